"""Folding: pure, total, and equal however it is cut."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from outlast.domain.apply import _BY_FAMILY, _BY_KIND, apply, begin, fold
from outlast.domain.events import (
    KINDS,
    Answered,
    ApprovalAsked,
    Approved,
    BranchOpened,
    CancelRequested,
    HookRan,
    HookRequested,
    LimitReached,
    LimitsChanged,
    LoopNoticed,
    ModelAnswered,
    ModelFailed,
    ModelRequested,
    PauseRequested,
    PlanMade,
    PlanRefused,
    QuestionAsked,
    Recorded,
    Rejected,
    ResumeRequested,
    RunClaimed,
    RunReleased,
    RunStarted,
    Said,
    StateEntered,
    SubtaskConcluded,
    SubtaskDropped,
    SubtaskReviewed,
    SubtaskStarted,
    TicketExpired,
    TicketVoided,
    Told,
    ToolAnswered,
    ToolRequested,
    ToolUnsettled,
)
from outlast.domain.plan import Conclusion, Subtask
from outlast.domain.run import RunState
from outlast.domain.states import State
from outlast.domain.task import TaskDefinition
from outlast.domain.tool_call import ToolCall, ToolOutcome
from outlast.journal.codec import decode, to_plain
from outlast.journal.snapshot import state_digest
from tests.law import law

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)

branches = st.sampled_from(["main", "planner", "s1", "writer", "gone"])
calls = st.sampled_from(["c1", "c2", "c9"])
models = st.sampled_from(["m1", "m2", "m9"])
subtasks = st.sampled_from(["s1", "s2", "gone"])
names = st.sampled_from(["a1", "q1"])
purposes = st.sampled_from(["plan", "execute", "report", "final_review", "chat"])

plans = st.just((Subtask("s1", "One?"), Subtask("s2", "Two?", "", ("s1",))))
outcomes = st.sampled_from([ToolOutcome(True, "yes"), ToolOutcome(False, "no")])
asked = st.lists(calls, max_size=2, unique=True).map(lambda ids: tuple(ToolCall(one, "page") for one in ids))

events: st.SearchStrategy[Any] = st.one_of(
    st.builds(BranchOpened, branch=branches, role=st.just("r"), purpose=purposes, system=st.just(""), opening=st.just(""),
              subtask=st.none() | subtasks),
    st.builds(Told, branch=branches, sender=st.just("x"), kind=st.sampled_from(["feedback", "note"]), body=st.just("b")),
    st.builds(ModelRequested, call=models, branch=branches, purpose=purposes, role=st.just("r"), model=st.just("m"),
              generation=st.just(1)),
    st.builds(ModelAnswered, call=models, text=st.just("t"), tool_calls=asked),
    st.builds(ModelFailed, call=models, fault=st.just("overload"), detail=st.just("d")),
    st.builds(ToolRequested, call=calls, generation=st.just(1)),
    st.builds(ToolAnswered, call=calls, outcome=outcomes),
    st.builds(ToolUnsettled, call=calls, reason=st.just("r")),
    st.builds(LoopNoticed, branch=branches, action=st.sampled_from(["steer", "stop"]), detail=st.just("d")),
    st.builds(HookRequested, hook=st.just("h"), point=st.just("p"), subject=names, generation=st.just(1)),
    st.builds(HookRan, hook=st.just("h"), point=st.just("p"), subject=names),
    st.builds(PlanMade, revision=st.just(1), subtasks=plans),
    st.builds(PlanRefused, by=st.just("b"), reasons=st.just(("r",)), digest=st.just("d")),
    st.builds(SubtaskStarted, subtask=subtasks),
    st.builds(SubtaskConcluded, subtask=subtasks, conclusions=st.just((Conclusion("s1.1", "c"),))),
    st.builds(SubtaskReviewed, subtask=subtasks, verdict=st.sampled_from(["accept", "revise", "replan"])),
    st.builds(SubtaskDropped, subtask=subtasks, reason=st.just("r")),
    st.builds(ApprovalAsked, ticket=names, subject=st.just("call:c1"), digest=st.just("d"), shown=st.none()),
    st.builds(TicketExpired, ticket=names),
    st.builds(TicketVoided, ticket=names, reason=st.just("r")),
    st.builds(QuestionAsked, question=names, text=st.just("t"), call=st.none() | calls),
    st.builds(Approved, by=st.just("u"), ticket=names),
    st.builds(Rejected, by=st.just("u"), ticket=names),
    st.builds(Answered, by=st.just("u"), question=names, text=st.just("t")),
    st.builds(Said, by=st.just("u"), text=st.just("t")),
    st.builds(LimitReached, limit=st.just("max_steps"), used=st.just(1.0), bound=st.just(1.0)),
    st.builds(LimitsChanged, by=st.just("u"), changes=st.just({"max_steps": 5, "unheard_of": 1})),
    st.builds(StateEntered, source=st.sampled_from(State), target=st.sampled_from(State)),
    st.sampled_from([PauseRequested("u"), ResumeRequested("u"), CancelRequested("u"), RunClaimed(1, "w"), RunReleased("r")]),
)  # fmt: skip


def placed(listed: list[Any]) -> list[Recorded]:
    started = RunStarted(
        thread_id="t",
        user_id="u",
        input="x",
        definition=TaskDefinition(name="n"),
        tools=(),
        secret="s",
        today="d",
    )
    return [
        Recorded(position, BEGAN + timedelta(seconds=position), event)
        for position, event in enumerate([started, *listed], start=1)
    ]


@law("RUN-2.b")
@given(st.lists(events, max_size=30))
def test_any_order_of_events_folds_and_a_stored_state_goes_on_as_the_folded_one(listed: list[Any]) -> None:
    history = placed(listed)
    state = begin("r", history[0])
    for recorded in history[1:]:
        stored: RunState = decode(RunState, json.dumps(to_plain(state)), {})
        state = apply(state, recorded)
        assert state_digest(apply(stored, recorded)) == state_digest(state)
    assert state_digest(fold("r", history)) == state_digest(state)
    assert state.counters.working_seconds <= len(history)


def test_every_kind_of_event_has_one_family_that_says_what_it_changes() -> None:
    assert set(_BY_KIND) == set(KINDS.values())
    assert len(_BY_KIND) == sum(len(get_args(family)) or 1 for family, _ in _BY_FAMILY)
