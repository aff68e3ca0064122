"""How events of planning and results change the state of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, assert_never

from outlast.domain.events import (
    PlanMade,
    Planning,
    PlanRefused,
    ReportWritten,
    SubtaskConcluded,
    SubtaskDropped,
    SubtaskReviewed,
    SubtaskStarted,
    ValueSet,
)
from outlast.domain.evolve import Changes, evolve
from outlast.domain.plan import Progress, Subtask
from outlast.domain.run import Branch, RunState, SubtaskState


def apply_planning(state: RunState, event: Planning) -> Changes:
    """What an event of planning or of a result changes."""
    match event:
        case PlanMade():
            return _planned(state, event)
        case PlanRefused():
            return _refused(state, event)
        case SubtaskStarted(subtask=name):
            return _to_subtask(state, name, progress=Progress.WORKING)
        case SubtaskConcluded():
            return _concluded(state, event)
        case SubtaskReviewed():
            return _reviewed(state, event)
        case SubtaskDropped(subtask=name, reason=reason):
            return _to_subtask(state, name, progress=Progress.DROPPED, remarks=(reason,))
        case ReportWritten(report=report, digest=digest):
            return {
                "report_position": state.next_position,
                "report_outcome": report.outcome,
                "report_title": report.title,
                "report_digest": digest,
                "is_report_refused": False,
            }
        case ValueSet(name=name, value=value):
            return {"values": {**state.values, name: value}}
        case _:
            assert_never(event)


def _planned(state: RunState, event: PlanMade) -> Changes:
    """A new plan takes the place of the old one, whose report and hooks go with it.

    Conclusions of subtasks that ask the same are kept, under the names of the new plan.
    """
    known = {item.subtask.question: item for item in state.plan if item.progress is Progress.ACCEPTED}
    plan = tuple(
        _renamed(known[subtask.question], subtask) if subtask.question in known else SubtaskState(subtask)
        for subtask in event.subtasks
    )
    return {
        "plan": plan,
        "plan_revision": event.revision,
        "is_plan_refused": False,
        "replan_reasons": (),
        "branches": {
            name: _heard_out(branch)
            for name, branch in state.branches.items()
            if branch.subtask is None and branch.purpose not in _OF_A_PLAN
        },
        "hooks": {},
        "report_position": 0,
        "report_outcome": None,
        "report_title": "",
        "report_digest": "",
        "is_report_refused": False,
        "rewrites": 0,
    }


_OF_A_PLAN: Final = frozenset({"report", "final_review"})
"""Purposes of conversations that end with the plan they are about, as those of its subtasks do."""


def _renamed(item: SubtaskState, subtask: Subtask) -> SubtaskState:
    conclusions = tuple(
        replace(one, id=f"{subtask.id}.{number}") for number, one in enumerate(item.conclusions, start=1)
    )
    return evolve(item, subtask=subtask, conclusions=conclusions)


def _refused(state: RunState, event: PlanRefused) -> Changes:
    refused = state.refused_plans if event.is_repeat else (*state.refused_plans, event.digest)
    return {
        "refused_plans": refused,
        "is_plan_refused": True,
        "replan_reasons": event.reasons,
        "counters": state.counters.more(replans=1),
        "branches": {name: _heard_out(branch) for name, branch in state.branches.items()},
    }


def _heard_out(branch: Branch) -> Branch:
    """The planner's answer is taken up once it became a plan or was refused."""
    return evolve(branch, answer=None) if branch.purpose == "plan" else branch


def _concluded(state: RunState, event: SubtaskConcluded) -> Changes:
    try:
        rounds = state.subtask(event.subtask).rounds + 1
    except KeyError:
        return {}
    return _to_subtask(
        state,
        event.subtask,
        progress=Progress.CONCLUDED,
        conclusions=event.conclusions,
        open_questions=event.open_questions,
        rounds=rounds,
    )


def _reviewed(state: RunState, event: SubtaskReviewed) -> Changes:
    progress = Progress.ACCEPTED if event.verdict == "accept" else Progress.WORKING
    return _to_subtask(state, event.subtask, progress=progress, remarks=event.reasons)


def _to_subtask(state: RunState, name: str, **changes: object) -> Changes:
    plan = tuple(evolve(item, **changes) if item.subtask.id == name else item for item in state.plan)
    return {"plan": plan}
