"""How events of tools, hooks and loop detection change the state of a run."""

from __future__ import annotations

from typing import assert_never

from outlast.domain.apply_conversation import to_branch
from outlast.domain.events import (
    HookRan,
    HookRequested,
    LoopNoticed,
    ToolAnswered,
    Tooling,
    ToolRequested,
    ToolUnsettled,
)
from outlast.domain.evolve import Changes, evolve, without
from outlast.domain.repetition import question_of, remembered
from outlast.domain.run import Awaited, Branch, Call, Counters, HookCall, Question, RunState, Ticket
from outlast.domain.tool_call import Effect


def apply_tooling(state: RunState, event: Tooling) -> Changes:
    """What an event of a tool, a hook or the loop detection changes."""
    match event:
        case ToolRequested():
            return _requested(state, event)
        case ToolAnswered():
            return _answered(state, event)
        case ToolUnsettled(call=name):
            call = state.calls.get(name)
            if call is None:
                return {}
            return {"calls": {**state.calls, name: evolve(call, is_unsettled=True)}}
        case LoopNoticed():
            return _noticed(state, event)
        case HookRequested() | HookRan():
            return _hooked(state, event)
        case _:
            assert_never(event)


def hook_key(hook: str, subject: str) -> str:
    """The name under which a state keeps what became of a hook for a transition or call."""
    return f"{hook} {subject}"


def _hooked(state: RunState, event: HookRequested | HookRan) -> Changes:
    """Hooks of transitions are kept until it is taken; hooks of calls are over with their call."""
    key = hook_key(event.hook, event.subject)
    before = state.hooks.get(key)
    attempt = before.attempt if before is not None else 0
    if isinstance(event, HookRan) and before is None:
        return {"idle_claims": 0}
    if isinstance(event, HookRequested):
        asked = HookCall(event.generation, attempt + 1)
        return {"hooks": {**state.hooks, key: asked}}
    done = HookCall(state.generation, max(1, attempt), is_done=True, veto=event.veto)
    return {"hooks": {**state.hooks, key: done}, "idle_claims": 0}


def _requested(state: RunState, event: ToolRequested) -> Changes:
    call = state.calls.get(event.call)
    if call is None:
        return {}
    requested = evolve(
        call, generation=event.generation, attempt=event.attempt, edited=event.edited, is_unsettled=False
    )
    return {
        "calls": {**state.calls, event.call: requested},
        "counters": state.counters.more(tool=call.call.name),
        "questions": _but_about(state.questions, event.call),
    }


def _answered(state: RunState, event: ToolAnswered) -> Changes:
    call = state.calls.get(event.call)
    if call is None:
        return {}
    branches = state.branches
    if call.branch in branches:
        branches = {**branches, call.branch: _one_call_less(state, branches[call.branch], call, event)}
    return {
        "counters": _counted(state.counters, call, event),
        "calls": without(state.calls, event.call),
        "branches": branches,
        "questions": _but_about(state.questions, event.call),
        "tickets": _but_on(state.tickets, call_subject(event.call)),
        "background": _with_begun(state, call, event),
        "idle_claims": 0,
    }


def _with_begun(state: RunState, call: Call, event: ToolAnswered) -> dict[str, Awaited]:
    """The open background tasks, with the one the call began."""
    begun = event.outcome.task
    if begun is None:
        return state.background
    return {**state.background, begun.id: Awaited(begun.name, call.branch)}


def _but_about(questions: dict[str, Question], call: str) -> dict[str, Question]:
    """The questions that are not about a call."""
    if not questions:
        return questions
    return {name: other for name, other in questions.items() if other.call != call}


def _but_on(tickets: dict[str, Ticket], subject: str) -> dict[str, Ticket]:
    """The tickets that are on another subject."""
    if not tickets:
        return tickets
    return {name: other for name, other in tickets.items() if other.subject != subject}


def _counted(counters: Counters, call: Call, event: ToolAnswered) -> Counters:
    """What a call used up, mostly nothing; one whose arguments could not be used counts though it never ran."""
    outcome = event.outcome
    if outcome.spent_tokens or outcome.spent_usd:
        counters = counters.more(tokens=outcome.spent_tokens, cost_usd=outcome.spent_usd)
    if call.generation is None and outcome.error is not None and outcome.error.code == "invalid_arguments":
        counters = counters.more(tool=call.call.name)
    return counters


def call_subject(call_id: str) -> str:
    """What a ticket about a tool call is about."""
    return f"call:{call_id}"


def _one_call_less(state: RunState, branch: Branch, call: Call, event: ToolAnswered) -> Branch:
    tool = state.tools.get(call.call.name)
    window = remembered(
        branch.window,
        call.call.name,
        question_of(call.call.name, call.call.arguments),
        event.outcome.shown,
        length=state.definition.loop.window,
        only_reads=tool is None or tool.effect is Effect.READ,
    )
    succeeded = branch.succeeded
    if event.outcome.ok and call.call.name not in succeeded:
        succeeded = succeeded | {call.call.name}
    return evolve(
        branch,
        open_calls=tuple([name for name in branch.open_calls if name != event.call]),
        window=window,
        succeeded=succeeded,
    )


def _noticed(state: RunState, event: LoopNoticed) -> Changes:
    branch = state.branches.get(event.branch)
    if branch is None:
        return {}
    is_stopped = event.action == "stop"
    return to_branch(state, event.branch, steered=branch.steered + 1, window=(), is_stopped=is_stopped)
