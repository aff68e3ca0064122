"""The agent loop of one conversation: ask the model, run the calls it asks for, ask again, until it answers without a call."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from outlast.domain.commands import CallModel, Command, Record
from outlast.domain.events import LimitReached, LoopNoticed
from outlast.domain.repetition import circle_in
from outlast.domain.run import Branch, RunState
from outlast.runs.calls import call_commands
from outlast.runs.limits import is_last_step
from outlast.runs.moves import fail, tell
from outlast.runs.recall.due import is_recalling, recall_due

MAX_SLIPS: Final = 3
"""How many answers in a row may be unusable before a branch is given up."""


def converse(
    state: RunState, name: str, now: datetime, *, form: str | None = None, keeps_tools: bool = False
) -> list[Command]:
    """The next commands of a branch; none while it waits or once it has answered (see `state.branches[name].answer`).

    The last step is offered no tools unless the branch `keeps_tools`, because its answer is a call.
    """
    branch = state.branches[name]
    if branch.open_calls:
        return [*call_commands(state, branch, now), *recall_due(state, branch)]
    if state.reached:
        return []
    if branch.recall is not None:
        return recall_due(state, branch)
    if not needs_model(state, branch, now):
        return []
    circle = None if branch.is_stopped else circle_in(branch.window, state.definition.loop.threshold)
    if circle is not None:
        return _out_of_circle(branch, circle)
    is_last = is_last_step(state) and not keeps_tools
    with_tools = bool(branch.tools) and not branch.is_stopped and not is_last
    return [*_last_words(state, branch, with_tools), CallModel(name, branch.purpose, form, with_tools)]


def needs_model(state: RunState, branch: Branch, now: datetime) -> bool:
    """Is it the model's turn: nothing open or in flight, nothing to be recalled, no answer yet, no task or time to wait for?"""
    if (
        branch.open_calls
        or branch.recall is not None
        or branch.answer is not None
        or state.awaits(branch)
        or is_asking(state, branch)
    ):
        return False
    if branch.fault is not None and branch.retry_at is None:
        return False
    return branch.retry_at is None or branch.retry_at <= now


def is_asking(state: RunState, branch: Branch) -> bool:
    """Is a model call of this branch in flight under the present claim?"""
    call = state.model_calls.get(branch.model_call or "")
    return call is not None and call.generation == state.generation


def is_idle(state: RunState, branch: Branch) -> bool:
    """Does nothing of this branch run at this moment?"""
    return not branch.open_calls and not is_asking(state, branch) and not is_recalling(state, branch)


def has_failed(branch: Branch) -> bool:
    """Has its model failed in a way that waiting does not mend, or too often?"""
    return branch.fault is not None and branch.retry_at is None and branch.model_call is None


def failure_of(state: RunState, branch: Branch) -> Record:
    """End the run because the model of a branch cannot be used."""
    if branch.fault == "context_exceeded":
        return fail(
            state,
            f"model_{branch.fault}",
            f"The context of the {branch.role} is too long for its model, and nothing more of it can be left out.",
            "Set harness.context.max_tokens (or llm.context_window) to what the model can read, shorten what is asked or pinned, "
            "or use a model with a larger window; then `outlast run --from RUN`.",
        )
    times = f"{branch.failures} times in a row, the last time " if branch.failures > 1 else ""
    return fail(
        state,
        f"model_{branch.fault}",
        f"The model of the {branch.role} failed {times}with {branch.fault}.",
        "See `outlast trace RUN` for what it said, mend the model or its settings, then `outlast resume RUN`.",
    )


def correct(branch: Branch, problem: str) -> Record:
    """Tell a model why its answer cannot be used, so that it tries again."""
    return tell(branch.id, f"Your answer cannot be used: {problem} Answer again.", kind="correction")


def _out_of_circle(branch: Branch, circle: str) -> list[Command]:
    """First a steering note; the next time the branch is stopped, with one last turn without tools."""
    if branch.steered == 0:
        note = f"You are going round in circles: {circle}. Do something else, or answer with what you have."
        return [Record(LoopNoticed(branch.id, "steer", circle)), tell(branch.id, note, kind="steering")]
    note = f"Stopped: {circle}. No further tool calls. Answer now with what you have."
    return [Record(LoopNoticed(branch.id, "stop", circle)), tell(branch.id, note, kind="steering")]


def _last_words(state: RunState, branch: Branch, with_tools: bool) -> list[Command]:
    """The limit of steps is reached by a conversation that would go on: its model may still answer, without tools."""
    if with_tools or not branch.tools or branch.is_stopped or branch.steps == 0:
        return []
    note = "RULE: no further tool calls. This is the last step; answer with what you have."
    reached = LimitReached("max_steps", state.counters.steps, state.limits.max_steps)
    return [Record(reached), tell(branch.id, note, kind="note")]
