"""EXECUTING and REVIEWING: executors work on subtasks in parallel, a reviewer judges each that is finished.

The run is REVIEWING while a review is open; other subtasks go on meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from outlast.domain.commands import CallModel, Command, Record
from outlast.domain.door import Json, canonical_json
from outlast.domain.events import (
    LimitReached,
    PlanRefused,
    SubtaskConcluded,
    SubtaskDropped,
    SubtaskReviewed,
    SubtaskStarted,
)
from outlast.domain.plan import Conclusion, Progress
from outlast.domain.run import Branch, RunState, SubtaskState
from outlast.domain.states import State
from outlast.runs.calls import abandoned_calls
from outlast.runs.converse import MAX_SLIPS, converse, correct, needs_model
from outlast.runs.decide import is_busy
from outlast.runs.forms import conclusions_in, open_questions_in, text_in, texts_in
from outlast.runs.moves import enter, open_branch, tell
from outlast.runs.prompts.research import (
    CONCLUDE,
    EXECUTOR,
    REVIEWER,
    reasons,
    review_opening,
    sent_back,
    subtask_opening,
)
from outlast.runs.prompts.roles import prompt_of, tools_of
from outlast.runs.transitions import working_states
from outlast.runs.workflows.research import planning

MAX_ROUNDS: Final = 3
"""How often a subtask may conclude before it is taken as it is."""

SETTLED: Final = frozenset({Progress.ACCEPTED, Progress.DROPPED})


def decide(state: RunState, now: datetime) -> Sequence[Command]:
    """What a run does next about its subtasks; nothing once all are settled."""
    if state.is_plan_refused:
        return _laid_down(state)
    if not state.plan:
        return planning.single_subtask(state)
    commands: list[Command] = [*_started(state)]
    for item in state.plan:
        if item.progress is Progress.WORKING:
            commands += _worked(state, item, now)
        elif item.progress is Progress.CONCLUDED:
            commands += _reviewed(state, item, now)
        if commands and _refuses_the_plan(commands[-1]):
            return commands
    return commands or _back_to_executing(state)


def _refuses_the_plan(command: Command) -> bool:
    """Does the plan fall with this command, so that nothing after it counts?"""
    return isinstance(command, Record) and isinstance(command.event, PlanRefused | LimitReached)


def last_conclusions(state: RunState) -> list[Command]:
    """Take up what executors have concluded though nobody will review it."""
    commands: list[Command] = []
    for item in state.plan:
        branch = state.branches.get(item.subtask.id)
        answer = branch.answer if branch is not None and item.progress is Progress.WORKING else None
        if answer is not None and answer.problem is None and answer.value is not None:
            commands.append(_concluding(item, answer.value))
    return commands


def _laid_down(state: RunState) -> Sequence[Command]:
    """Lay the work on a refused plan down, then plan anew: calls in flight may end, no other begins."""
    names = [name for name, branch in state.branches.items() if branch.subtask is not None]
    commands = abandoned_calls(state, names, "the plan is made anew")
    if commands or is_busy(state):
        return commands
    return [enter(state, State.PLANNING, "the plan was refused")]


def review_name(item: SubtaskState) -> str:
    """The branch in which the present conclusions of a subtask are reviewed."""
    return f"{item.subtask.id}/review-{item.rounds}"


def conclusions_as_json(conclusions: Sequence[Conclusion]) -> list[Json]:
    """Conclusions as the other roles see them."""
    return [
        {
            "id": one.id,
            "claim": one.claim,
            "sources": list(one.sources),
            "quote": one.quote,
            "confidence": one.confidence,
            "supported": one.is_supported,
        }
        for one in conclusions
    ]


def _started(state: RunState) -> list[Command]:
    """Begin the subtasks whose turn it is, as many as may run at once."""
    busy = sum(item.progress in (Progress.WORKING, Progress.CONCLUDED) for item in state.plan)
    room = state.definition.max_concurrent_subtasks - busy
    settled = {item.subtask.id for item in state.plan if item.progress in SETTLED}
    ready = [
        item
        for item in state.plan
        if item.progress is Progress.OPEN and settled.issuperset(item.subtask.depends_on)
    ]
    commands: list[Command] = []
    for item in ready[: max(0, room)]:
        commands += [Record(SubtaskStarted(item.subtask.id)), _executor(state, item)]
    return commands


def _executor(state: RunState, item: SubtaskState) -> Command:
    shares_all = state.definition.isolation == "shared"
    known = conclusions_as_json(
        [
            one
            for other in state.plan
            if shares_all or other.subtask.id in item.subtask.depends_on
            for one in other.conclusions
        ]
    )
    allowed = tools_of(state, "executor", state.definition.tools)
    return open_branch(
        item.subtask.id,
        "executor",
        purpose="execute",
        system=prompt_of(state, "executor", EXECUTOR),
        opening=subtask_opening(state.input, item.subtask),
        material=f"FINDINGS SO FAR:\n{canonical_json(known)}" if known else "",
        material_from="other subtasks",
        tools=[name for name in allowed if name != "write_report"],
        subtask=item.subtask.id,
    )


def _worked(state: RunState, item: SubtaskState, now: datetime) -> Sequence[Command]:
    branch = state.branches.get(item.subtask.id)
    if branch is None:
        return [_executor(state, item)]
    if branch.answer is None:
        return _asked_executor(state, branch, now)
    if branch.answer.problem is None and branch.answer.value is not None:
        return _concluded(state, item, branch)
    if branch.slips < MAX_SLIPS:
        return [tell(branch.id, f"{CONCLUDE} {branch.answer.problem or ''}".strip(), kind="correction")]
    return _dropped(state, item, f"its executor gave no usable conclusions in {branch.slips} answers")


def _asked_executor(state: RunState, branch: Branch, now: datetime) -> Sequence[Command]:
    """The agent loop; after an unusable answer the model is asked for its conclusions alone."""
    if branch.slips and needs_model(state, branch, now):
        return [CallModel(branch.id, "conclude", "conclusions", with_tools=False)]
    return converse(state, branch.id, now, form="conclusions")


def _concluded(state: RunState, item: SubtaskState, branch: Branch) -> Sequence[Command]:
    answer = branch.answer
    value = answer.value if answer is not None else None
    found = conclusions_in(value, item.subtask.id)
    if branch.is_stopped and not found:
        return _dropped(state, item, "it went round in circles and concluded nothing")
    return [_concluding(item, value)]


def _concluding(item: SubtaskState, value: Json) -> Record:
    name = item.subtask.id
    return Record(SubtaskConcluded(name, conclusions_in(value, name), open_questions_in(value)))


def _dropped(state: RunState, item: SubtaskState, reason: str) -> Sequence[Command]:
    """Give a subtask up: the plan is made anew while replans are left, else the run goes on without it."""
    dropped = Record(SubtaskDropped(item.subtask.id, reason))
    if planning.may_replan(state):
        return [
            dropped,
            *planning.refuse(state, "engine", (f"Subtask {item.subtask.id} was given up: {reason}.",)),
        ]
    return [dropped]


def _reviewed(state: RunState, item: SubtaskState, now: datetime) -> Sequence[Command]:
    if State.REVIEWING not in working_states(state):
        return [Record(SubtaskReviewed(item.subtask.id, "accept", ("this task has no review",)))]
    if state.state is not State.REVIEWING:
        return [enter(state, State.REVIEWING, f"subtask {item.subtask.id} concluded")]
    name = review_name(item)
    branch = state.branches.get(name)
    if branch is None:
        return [_reviewer(state, item, name)]
    if branch.answer is None:
        return converse(state, name, now, form="verdict")
    if branch.answer.problem is not None and branch.slips < MAX_SLIPS:
        return [correct(branch, branch.answer.problem)]
    return _judged(state, item, branch.answer.value)


def _reviewer(state: RunState, item: SubtaskState, name: str) -> Command:
    shown: Json = {
        "conclusions": conclusions_as_json(item.conclusions),
        "open_questions": list(item.open_questions),
    }
    return open_branch(
        name,
        "reviewer",
        purpose="review",
        system=prompt_of(state, "reviewer", REVIEWER),
        opening=review_opening(item.subtask, item.rounds),
        material=canonical_json(shown),
        material_from="executor",
        tools=tools_of(state, "reviewer"),
        subtask=item.subtask.id,
    )


def _judged(state: RunState, item: SubtaskState, value: Json) -> Sequence[Command]:
    name = item.subtask.id
    verdict = text_in(value, "verdict")
    why = texts_in(value, "reasons")
    if verdict == "replan" and not planning.takes_as_it_is(state):
        accepted = Record(SubtaskReviewed(name, "accept", why))
        return [
            accepted,
            *planning.refuse(state, "reviewer", why or ("the reviewer asked for another plan",)),
        ]
    if verdict == "revise" and item.rounds < MAX_ROUNDS:
        back = tell(
            name, sent_back(f"subtask {name}"), sender="reviewer", kind="feedback", material=reasons(why)
        )
        return [Record(SubtaskReviewed(name, "revise", why)), back]
    if verdict == "accept":
        return [Record(SubtaskReviewed(name, "accept", why))]
    note = (
        "taken as it is: no usable verdict"
        if not verdict
        else f"taken as it is, though the reviewer said {verdict}"
    )
    return [Record(SubtaskReviewed(name, "accept", (*why, note)))]


def _back_to_executing(state: RunState) -> Sequence[Command]:
    """Leave REVIEWING once no review is open and work is left."""
    is_reviewing = any(item.progress is Progress.CONCLUDED for item in state.plan)
    has_work = any(item.progress in (Progress.WORKING, Progress.OPEN) for item in state.plan)
    if state.state is State.REVIEWING and not is_reviewing and has_work:
        return [enter(state, State.EXECUTING, "review done")]
    return []
