"""From an intent that was drafted to the call that carries it out."""

from __future__ import annotations

from outlast.domain.apply_tooling import hook_key
from outlast.domain.commands import AskMemory, CallModel, CallTool, RunHook
from outlast.domain.door import Json
from outlast.domain.events import HookRequested, ModelRequested, RecallRequested, ToolRequested
from outlast.domain.run import RunState
from outlast.runs.desk import Desk, Outcome
from outlast.runs.drafting import Started
from outlast.runs.flight import Effect
from outlast.runs.forms import FORMS
from outlast.runs.hooks import call_hook
from outlast.runs.making_room import messages_for
from outlast.runs.perform_model import perform_model, request_of
from outlast.runs.perform_tool import begin_tool
from outlast.runs.readings import Readings
from outlast.runs.recall.perform import perform_recall


def name_of(started: Started) -> str:
    """The name under which a call is in flight; no other of its run has it at the same time."""
    intent = started.intent
    if isinstance(intent, RecallRequested):
        return intent.recall
    return f"{intent.hook} {intent.subject}" if isinstance(intent, HookRequested) else intent.call


def effect_of(desk: Desk, readings: Readings, started: Started) -> Effect:
    """The call of an intent, by readings that hold it; nothing of it has happened yet."""
    intent, command, state = started.intent, started.command, readings.state
    if isinstance(intent, ModelRequested) and isinstance(command, CallModel):
        schema = _schema_of(command, readings)
        branch = state.branches[intent.branch]
        messages = messages_for(readings, intent)
        turns = readings.conversations[intent.branch].folded_turns
        request = request_of(state, branch, intent, messages, schema, turns)
        return lambda flight: perform_model(
            desk, state, intent, request, command.form, schema, flight.is_ending
        )
    if isinstance(intent, ToolRequested) and isinstance(command, CallTool):
        call = state.calls[intent.call]
        return lambda flight: begin_tool(desk, state, call, command.edited, flight.held)
    if isinstance(intent, HookRequested) and isinstance(command, RunHook):
        return lambda _: _hooked(desk, state, intent, command)
    if isinstance(intent, RecallRequested) and isinstance(command, AskMemory):
        shown = readings.conversations[intent.branch].messages
        return lambda _: perform_recall(desk, state, intent, shown)
    raise TypeError(f"{type(command).__name__} does not go with {type(intent).__name__}")


def _schema_of(command: CallModel, readings: Readings) -> dict[str, Json] | None:
    """The schema of the form a call's answer is read as."""
    if command.form is None:
        return None
    return FORMS.get(command.form) or readings.conversations[command.branch].schema


async def _hooked(desk: Desk, state: RunState, intent: HookRequested, command: RunHook) -> Outcome:
    attempt = state.hooks[hook_key(intent.hook, intent.subject)].attempt
    ran = await call_hook(desk, state, intent.hook, intent.point, intent.subject, command.info, attempt)
    return Outcome([ran])
