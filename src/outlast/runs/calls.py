"""What to do with the tool calls a model asked for: run them, hold them back, or answer in the tool's place."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from outlast.domain.apply_tooling import call_subject
from outlast.domain.commands import CallTool, Command, Record
from outlast.domain.events import QuestionAsked, ToolAnswered, ToolUnsettled
from outlast.domain.run import FORKED, Branch, Call, Question, RunState
from outlast.domain.tool_call import Effect, ToolOutcome
from outlast.runs.approvals import Gate, refusal_in_words, tool_passage, void_all
from outlast.runs.moves import settle

RUN_AGAIN = "run it again"
DID_HAPPEN = "it happened"
DID_NOT_HAPPEN = "it did not happen"

LOST = "its worker stopped before the result was recorded"
"""Why nobody knows what an interrupted call came to."""


def call_commands(state: RunState, branch: Branch, now: datetime) -> list[Command]:
    """What to do with the open calls of a branch, in the order the model asked for them.

    Calls that may run are all asked for; those there is no room for are left for later when they would begin.
    """
    commands: list[Command] = []
    for name in branch.open_calls:
        commands += _for_call(state, branch, state.calls[name], now)
    return commands


def abandoned_calls(state: RunState, branches: Sequence[str], reason: str) -> list[Command]:
    """Close the calls of conversations that end: those that have not begun, and those that wait for a person."""
    running = {call.call.id for call in in_flight(state)}
    commands: list[Command] = []
    for name, call in state.calls.items():
        if call.branch in branches and name not in running:
            about = [ticket for ticket in state.open_tickets() if ticket.subject == call_subject(name)]
            commands += [*void_all(about, reason), *_laid_down(state, call, reason)]
    return commands


def _laid_down(state: RunState, call: Call, reason: str) -> list[Command]:
    name = call.call.id
    is_interrupted = call.generation is not None and _question_about(state, call) is None
    is_lost = is_interrupted and effect_of(state, call) is Effect.ONCE and not call.is_unsettled
    code = "outcome_unknown" if is_lost or call.is_unsettled else "cancelled"
    closed = settle(name, code, f"Not carried on: {reason}.", "engine")
    return [Record(ToolUnsettled(name, LOST)), closed] if is_lost else [closed]


def in_flight(state: RunState) -> list[Call]:
    """Calls that this claim's worker is running; those that wait for a person are not running."""
    asked = {question.call for question in state.questions.values()} if state.questions else ()
    return [
        call
        for name, call in state.calls.items()
        if call.generation == state.generation and not call.is_unsettled and name not in asked
    ]


def effect_of(state: RunState, call: Call) -> Effect:
    """The declared effect of a call's tool; `once` when the tool is not known."""
    tool = state.tools.get(call.call.name)
    return tool.effect if tool else Effect.ONCE


def may_begin(state: RunState, call: Call) -> bool:
    """Is there room for a call: in all, of its tool, in its exclusive group, and, when it is not a repetition, within its limit?"""
    name = call.call.name
    tool = state.tools.get(name)
    running = [call.call.name for call in in_flight(state)]
    if tool is None or len(running) >= state.definition.max_concurrent_tools:
        return False
    if tool.max_concurrent is not None and running.count(name) >= tool.max_concurrent:
        return False
    if tool.exclusive_group is not None and _is_group_busy(state, tool.exclusive_group, running):
        return False
    return call.attempt > 0 or not _is_used_up(state, name)


def _is_group_busy(state: RunState, group: str, running: Sequence[str]) -> bool:
    return any(name in state.tools and state.tools[name].exclusive_group == group for name in running)


def _is_used_up(state: RunState, name: str) -> bool:
    bound = state.limits.tool_calls.get(name)
    return bound is not None and state.counters.tool_calls.get(name, 0) >= bound


def _for_call(state: RunState, branch: Branch, call: Call, now: datetime) -> Sequence[Command]:
    if call.is_unsettled:
        return _unsettled(state, call)
    question = _question_about(state, call)
    if question is not None:
        return _answered(call, question)
    if call.generation == state.generation:
        return []
    if call.generation is not None:
        return _orphaned(state, call)
    refusal = _refusal(state, branch, call)
    if refusal is not None:
        return [refusal]
    passage = tool_passage(state, call, now)
    if passage.gate is Gate.WAIT:
        return passage.commands
    ticket = passage.ticket
    if ticket is not None and passage.gate is Gate.REFUSED:
        return [
            settle(
                call.call.id, ticket.status, f"This call was not run: {refusal_in_words(ticket)}.", "person"
            )
        ]
    return [CallTool(call.call.id, 1, ticket.edit if ticket else None)]


def _refusal(state: RunState, branch: Branch, call: Call) -> Command | None:
    name = call.call.name
    if call.call.problem is not None:
        return settle(call.call.id, "invalid_arguments", call.call.problem, "engine")
    if name not in branch.tools or name not in state.tools:
        offered = ", ".join(branch.tools) or "none"
        return settle(
            call.call.id, "unknown_tool", f"There is no tool {name!r} here. Tools: {offered}.", "engine"
        )
    missing = [other for other in state.definition.after.get(name, ()) if other not in branch.succeeded]
    if missing:
        detail = f"{name} may only be called after {', '.join(missing)} has succeeded."
        return settle(call.call.id, "too_early", detail, "policy")
    if _is_used_up(state, name):
        bound = state.limits.tool_calls[name]
        detail = f"{name} was called {bound} times in this run, which is its limit. Go on without it."
        return settle(call.call.id, "limit_reached", detail, "limit")
    return None


def _orphaned(state: RunState, call: Call) -> Sequence[Command]:
    """The worker that ran this call is gone: repeat what may be repeated, leave open what may not.

    In a fork a call that was open has another key than it ran under, so only what reads may be repeated.
    """
    effect, is_forked = effect_of(state, call), call.generation == FORKED
    tool = state.tools.get(call.call.name)
    if tool is not None and tool.background == "local":
        return [CallTool(call.call.id, call.attempt + 1, call.edited)]
    if may_have_begun(state, call):
        return [Record(ToolUnsettled(call.call.id, LOST)), _lost_in_background(call)]
    if effect is Effect.ONCE or (is_forked and effect is not Effect.READ):
        reason = "the original run was at it" if is_forked else LOST
        return [Record(ToolUnsettled(call.call.id, reason))]
    return [CallTool(call.call.id, call.attempt + 1, call.edited)]


def may_have_begun(state: RunState, call: Call) -> bool:
    """May the other side have begun a background task of which nobody heard?"""
    tool = state.tools.get(call.call.name)
    background = tool.background if tool is not None else None
    return background == "always" or (background == "maybe" and effect_of(state, call) is Effect.ONCE)


def _lost_in_background(call: Call) -> Command:
    """Whether the work was begun stands as a background task of unknown outcome, of which the conversation is told."""
    detail = (
        f"{call.call.name} was interrupted while it was asked for; whether the work was begun is not known. It is among the "
        "background tasks. Find out before you ask for it again."
    )
    return settle(call.call.id, "outcome_unknown", detail, "engine")


def _answered(call: Call, question: Question) -> Sequence[Command]:
    """A call that asked a person has what the person says as its result."""
    if question.answer is None:
        return []
    return [Record(ToolAnswered(call.call.id, ToolOutcome(True, question.answer), question.by))]


def _unsettled(state: RunState, call: Call) -> Sequence[Command]:
    if may_have_begun(state, call):
        return [_lost_in_background(call)]
    if state.definition.unknown_outcome == "error":
        detail = f"{call.call.name} was interrupted; whether it took effect is not known. Find out before you try again."
        return [settle(call.call.id, "outcome_unknown", detail, "policy")]
    question = _question_about(state, call)
    if question is None:
        return [_ask_about(call)]
    if question.answer is None:
        return []
    return _resolved(call, question)


def _ask_about(call: Call) -> Command:
    text = (
        f"The call {call.call.id} of {call.call.name} was interrupted, and nobody knows whether it took effect. "
        f"Look, then answer with one of: {RUN_AGAIN} | {DID_HAPPEN} | {DID_NOT_HAPPEN}, or describe what came of it."
    )
    choices = (RUN_AGAIN, DID_HAPPEN, DID_NOT_HAPPEN)
    return Record(QuestionAsked(f"q-{call.call.id}-{call.attempt}", text, call.call.id, choices))


def _resolved(call: Call, question: Question) -> Sequence[Command]:
    answer = (question.answer or "").strip()
    if answer.lower() == RUN_AGAIN:
        return [CallTool(call.call.id, call.attempt + 1, call.edited)]
    if answer.lower() == DID_NOT_HAPPEN:
        detail = "The call was interrupted. A person looked: it did not take effect."
        return [settle(call.call.id, "cancelled", detail, question.by or "person")]
    shown = f"The call was interrupted. A person looked and says: {answer}"
    return [Record(ToolAnswered(call.call.id, ToolOutcome(True, shown), question.by))]


def _question_about(state: RunState, call: Call) -> Question | None:
    for question in state.questions.values():
        if question.call == call.call.id:
            return question
    return None
