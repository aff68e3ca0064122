"""How events of a conversation with a model change the state of a run."""

from __future__ import annotations

from typing import assert_never

from outlast.domain.events import (
    BranchOpened,
    ContextCrowded,
    ContextFolded,
    ContextSummarised,
    Conversation,
    ModelAnswered,
    ModelFailed,
    ModelRequested,
    TasksShown,
    Told,
)
from outlast.domain.evolve import Changes, evolve, without
from outlast.domain.recalled import QUERY_CHARACTERS
from outlast.domain.run import MAIN_BRANCH, Answer, Branch, Call, ModelCall, RecallCall, RunState


def apply_conversation(state: RunState, event: Conversation) -> Changes:
    """What an event of a conversation changes."""
    match event:
        case ModelRequested():
            return _requested(state, event)
        case ModelAnswered():
            return _answered(state, event)
        case ModelFailed():
            return _failed(state, event)
        case BranchOpened():
            return _opened(state, event)
        case Told():
            return _told(state, event)
        case ContextFolded() | ContextSummarised() | ContextCrowded() | TasksShown():
            return {}
        case _:
            assert_never(event)


def to_branch(state: RunState, name: str, **changes: object) -> Changes:
    """What changes when one branch does; nothing where there is no such branch."""
    branch = state.branches.get(name)
    if branch is None:
        return {}
    return {"branches": {**state.branches, name: evolve(branch, **changes)}}


def _told(state: RunState, event: Told) -> Changes:
    branch = state.branches.get(event.branch)
    told = to_branch(state, event.branch, told_since=True, answer=None)
    if branch is None or event.kind != "feedback":
        return told
    if branch.purpose == "plan":
        return {**told, "replan_reasons": ()}
    if branch.purpose == "report":
        return {**told, "rewrites": state.rewrites + 1, "is_report_refused": True}
    return told


def _opened(state: RunState, event: BranchOpened) -> Changes:
    branch = Branch(
        id=event.branch,
        role=event.role,
        purpose=event.purpose,
        tools=event.tools,
        subtask=event.subtask,
        has_schema=event.schema is not None,
        told_since=True,
        recall=_asked_first(state, event),
    )
    return {"branches": {**state.branches, event.branch: branch}}


def _asked_first(state: RunState, event: BranchOpened) -> RecallCall | None:
    """What memory is asked before a conversation with a person, or on a subtask, begins."""
    if event.branch == MAIN_BRANCH:
        return recall_for(state, state.input)
    if event.purpose != "execute":
        return None
    return next(
        (recall_for(state, one.subtask.question) for one in state.plan if one.subtask.id == event.subtask),
        None,
    )


def recall_for(state: RunState, words: str) -> RecallCall | None:
    """What memory is to be asked for `words`; nothing in a run without memory."""
    query = words[:QUERY_CHARACTERS].strip()
    return RecallCall(query) if query and state.definition.recall_top_k > 0 else None


def _requested(state: RunState, event: ModelRequested) -> Changes:
    branch = state.branches.get(event.branch)
    if branch is None:
        return {}
    call = ModelCall(
        event.call,
        event.branch,
        event.purpose,
        event.generation,
        event.reserved_tokens,
        event.reserved_usd,
        is_summary=event.summarises_before is not None,
    )
    counters, open_calls = state.counters.more(steps=1), state.model_calls
    lost = open_calls.get(branch.model_call or "")
    if lost is not None:
        counters = counters.more(tokens=lost.reserved_tokens, cost_usd=lost.reserved_usd)
        open_calls = without(open_calls, lost.id)
    return {
        "counters": counters,
        "branches": {**state.branches, branch.id: _asking(branch, event.call, is_turn=not call.is_summary)},
        "model_calls": {**open_calls, event.call: call},
    }


def _asking(branch: Branch, call: str, *, is_turn: bool) -> Branch:
    """The branch while its model is asked: for its next turn, or for a summary, which is none."""
    if not is_turn:
        return evolve(branch, model_call=call)
    return evolve(
        branch,
        steps=branch.steps + 1,
        model_call=call,
        told_since=False,
        retry_at=None,
        fault=None,
        answer=None,
    )


def _answered(state: RunState, event: ModelAnswered) -> Changes:
    call = state.model_calls.get(event.call)
    if call is None:
        return {}
    tokens, cost_usd = event.input_tokens + event.output_tokens, event.cost_usd or 0.0
    branch, branches, calls = state.branches.get(call.branch), state.branches, state.calls
    if branch is not None:
        answered = evolve(branch, model_call=None) if call.is_summary else _spoken(state, branch, event)
        branches = {**branches, branch.id: answered}
        if event.tool_calls and not call.is_summary:
            steps = state.counters.steps
            calls = calls | {made.id: Call(made, branch.id, steps) for made in event.tool_calls}
    return {
        "counters": state.counters.more(tokens=tokens, cost_usd=cost_usd),
        "model_calls": without(state.model_calls, event.call),
        "idle_claims": 0,
        "branches": branches,
        "calls": calls,
    }


def _spoken(state: RunState, branch: Branch, event: ModelAnswered) -> Branch:
    """The branch once its model has spoken. What was said meanwhile is heard before its answer counts."""
    is_last_word = not event.tool_calls and not branch.told_since
    answer = Answer(state.next_position, event.text, event.value, event.problem) if is_last_word else None
    return evolve(
        branch,
        model_call=None,
        open_calls=tuple(dict.fromkeys([made.id for made in event.tool_calls])),
        answer=answer,
        failures=0,
        fault=None,
        slips=branch.slips + 1 if event.problem else 0,
    )


def _failed(state: RunState, event: ModelFailed) -> Changes:
    call = state.model_calls.get(event.call)
    if call is None:
        return {}
    branch, branches = state.branches.get(call.branch), state.branches
    if branch is not None:
        failed = evolve(branch, model_call=None) if call.is_summary else _let_down(branch, event)
        branches = {**branches, branch.id: failed}
    return {
        "counters": state.counters.more(tokens=event.spent_tokens, cost_usd=event.spent_usd),
        "model_calls": without(state.model_calls, event.call),
        "idle_claims": 0,
        "branches": branches,
    }


def _let_down(branch: Branch, event: ModelFailed) -> Branch:
    """The branch whose model did not answer: it asks again, or the next of its models."""
    moves_on = event.next_option is not None
    return evolve(
        branch,
        model_call=None,
        failures=0 if moves_on else branch.failures + 1,
        option=event.next_option if moves_on else branch.option,
        retry_at=event.retry_at,
        fault=event.fault,
    )
