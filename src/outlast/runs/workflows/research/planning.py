"""PLANNING: a planner makes a plan; people and hooks may refuse it; a refused plan is made anew, bounded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from outlast.domain.commands import Command, Record
from outlast.domain.door import Json, canonical_json
from outlast.domain.events import LimitReached, PlanRefused
from outlast.domain.plan import Subtask, digest_of_plan, problems_of
from outlast.domain.run import Answer, Branch, RunState
from outlast.domain.states import State
from outlast.runs.approvals import Gate, point_passage, refusal_in_words
from outlast.runs.converse import MAX_SLIPS, converse, correct
from outlast.runs.forms import subtasks_in
from outlast.runs.moves import enter, fail, open_branch, tell
from outlast.runs.prompts.research import PLANNER, plan_again, plan_opening, refused_plan
from outlast.runs.prompts.roles import prompt_of, tools_of
from outlast.runs.transitions import working_states
from outlast.runs.workflows.research.inheriting import adopted, with_known

PLANNER_BRANCH = "planner"


def decide(state: RunState, now: datetime) -> Sequence[Command]:
    """What a run that is planning does next."""
    planner = state.branches.get(PLANNER_BRANCH)
    if planner is None:
        return [_opened(state)]
    if state.replan_reasons:
        return [_told_reasons(state)]
    if state.plan and not state.is_plan_refused:
        return [enter(state, State.EXECUTING, f"plan {state.plan_revision}")]
    if planner.answer is None:
        return converse(state, PLANNER_BRANCH, now, form="plan")
    return _judged(state, planner, planner.answer, now)


def refuse(state: RunState, by: str, reasons: Sequence[str]) -> Sequence[Command]:
    """Refuse the present plan while replans are left; when none is left, the limit is reached."""
    digest = digest_of_plan([item.subtask for item in state.plan])
    return _refused(state, by, reasons, digest)


def _opened(state: RunState) -> Record:
    inherited = canonical_json(state.inherited) if state.inherited is not None else ""
    return open_branch(
        PLANNER_BRANCH,
        "planner",
        purpose="plan",
        system=prompt_of(state, "planner", PLANNER),
        tools=tools_of(state, "planner"),
        opening=plan_opening(state.input, inherited),
        material=inherited,
        material_from="an earlier run",
    )


def _told_reasons(state: RunState) -> Record:
    material = refused_plan([item.subtask for item in state.plan], state.replan_reasons)
    return tell(
        PLANNER_BRANCH, plan_again(state.input), sender="reviewer", kind="feedback", material=material
    )


def _judged(state: RunState, planner: Branch, answer: Answer, now: datetime) -> Sequence[Command]:
    """Adopt the planner's answer, have it corrected, or refuse it."""
    subtasks = subtasks_in(answer.value)
    problems = [answer.problem] if answer.problem else problems_of(subtasks)
    if problems:
        return _unusable(state, planner, problems)
    subtasks = with_known(state, subtasks)
    digest = digest_of_plan(subtasks)
    if digest in state.refused_plans and not takes_as_it_is(state):
        return _refused(state, "engine", ("this plan was refused before",), digest)
    shown: Json = [
        {"id": item.id, "question": item.question, "depends_on": list(item.depends_on)} for item in subtasks
    ]
    passage = point_passage(state, "plan", f"{state.plan_revision + 1}.{state.counters.replans}", shown, now)
    if passage.gate is Gate.WAIT:
        return passage.commands
    if passage.gate is Gate.REFUSED and passage.ticket is not None:
        return _refused(state, "person", (refusal_in_words(passage.ticket),), digest)
    return adopted(state, subtasks)


def _unusable(state: RunState, planner: Branch, problems: Sequence[str]) -> Sequence[Command]:
    if planner.steps < MAX_SLIPS * (state.counters.replans + 1):
        return [correct(planner, "; ".join(problems) + ".")]
    detail = f"The planner gave no usable plan in {planner.steps} answers: {'; '.join(problems)}."
    return [
        fail(state, "plan_unusable", detail, "Use another model for the planner, then `outlast resume RUN`.")
    ]


def _refused(state: RunState, by: str, reasons: Sequence[str], digest: str) -> Sequence[Command]:
    if not may_replan(state):
        used, bound = state.counters.replans, state.limits.max_replans
        return [Record(LimitReached("max_replans", used, bound, tuple(reasons)))]
    return [Record(PlanRefused(by, tuple(reasons), digest, is_repeat=digest in state.refused_plans))]


def takes_as_it_is(state: RunState) -> bool:
    """Is the plan kept although a reviewer wants another: the task makes none, or accepts it once no replans are left?"""
    if State.PLANNING not in working_states(state):
        return True
    return state.definition.on_replan_limit == "accept" and not may_replan(state)


def may_replan(state: RunState) -> bool:
    """Is another plan allowed?"""
    return state.counters.replans < state.limits.max_replans and State.PLANNING in working_states(state)


def single_subtask(state: RunState) -> Sequence[Command]:
    """The plan of a task that leaves PLANNING out: its input is the one question."""
    return adopted(state, with_known(state, [Subtask("s1", state.input)]))
