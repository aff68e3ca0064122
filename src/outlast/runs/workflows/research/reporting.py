"""The end of a research run: a writer hands the report in, a last review judges it, people may have a word at named points."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from outlast.domain.commands import Command, ComposeReport
from outlast.domain.door import Json, canonical_json
from outlast.domain.plan import Progress
from outlast.domain.run import Branch, RunState
from outlast.domain.states import State
from outlast.runs.approvals import Gate, Passage, point_passage, refusal_in_words
from outlast.runs.converse import MAX_SLIPS, converse, correct, is_idle
from outlast.runs.forms import text_in, texts_in
from outlast.runs.moves import enter, fail, open_branch, tell
from outlast.runs.prompts.research import (
    HAND_IN,
    REVIEWER,
    WRITER,
    final_opening,
    reasons,
    report_opening,
    sent_back,
)
from outlast.runs.prompts.roles import prompt_of, tools_of
from outlast.runs.report_words import words_for
from outlast.runs.transitions import working_states
from outlast.runs.workflows.research import planning
from outlast.runs.workflows.research.subtasks import SETTLED, conclusions_as_json

WRITER_BRANCH: Final = "writer"
REPORT_TOOL: Final = "write_report"
MAX_REWRITES: Final = 2


def decide(state: RunState, now: datetime) -> Sequence[Command]:
    """What a run does next once its subtasks are settled."""
    if any(item.progress not in SETTLED for item in state.plan):
        return []
    writer = state.branches.get(WRITER_BRANCH)
    if writer is None:
        return _begun(state, now)
    if state.report_position and not _is_rewriting(state, writer):
        return _judged(state, writer, now)
    return _written(state, writer, now)


def outcome_of(state: RunState) -> str:
    """Is the research whole: no subtask given up, no limit reached?"""
    is_whole = not state.reached and all(item.progress is Progress.ACCEPTED for item in state.plan)
    return "full" if is_whole else "partial"


def final_name(state: RunState) -> str:
    """The branch in which the present report is reviewed."""
    return f"final-{state.report_position}"


def _begun(state: RunState, now: datetime) -> Sequence[Command]:
    """Ask at the points `conclusions` and `outline`, then open the writer's conversation."""
    conclusions = [one for item in state.plan for one in item.conclusions]
    shown: Json = [*conclusions_as_json(conclusions)]
    passage = point_passage(state, "conclusions", str(state.plan_revision), shown, now)
    if passage.gate is Gate.REFUSED:
        return planning.refuse(state, "person", (_comment(passage),))
    if passage.gate is Gate.WAIT:
        return passage.commands
    headings: Json = [item.subtask.question for item in state.plan if item.conclusions]
    outline = point_passage(state, "outline", str(state.plan_revision), headings, now)
    if outline.gate is Gate.WAIT:
        return outline.commands
    if state.state is State.REVIEWING:
        return [enter(state, State.EXECUTING, "all subtasks are settled")]
    remark = f"REASONS:\n{_comment(outline)}\n\n" if outline.gate is Gate.REFUSED else ""
    return [_writer(state, remark)]


def _writer(state: RunState, remark: str) -> Command:
    conclusions: Json = [
        {**one, "subtask": item.subtask.id, "subtask_question": item.subtask.question}
        for item in state.plan
        for one in conclusions_as_json(item.conclusions)
        if isinstance(one, dict)
    ]
    open_questions: Json = [question for item in state.plan for question in item.open_questions]
    return open_branch(
        WRITER_BRANCH,
        "writer",
        purpose="report",
        system=prompt_of(state, "writer", WRITER),
        opening=remark + report_opening(state.input),
        material=canonical_json({"conclusions": conclusions, "open_questions": open_questions}),
        material_from="executors",
        tools=dict.fromkeys([REPORT_TOOL, *tools_of(state, "writer")]),
    )


def _written(state: RunState, writer: Branch, now: datetime) -> Sequence[Command]:
    """The writer at work; one that does not hand a report in is told to, then the engine makes it from the conclusions."""
    if writer.answer is None:
        return converse(state, WRITER_BRANCH, now, keeps_tools=True)
    if writer.steps < MAX_SLIPS + state.rewrites and not writer.is_stopped:
        return [tell(WRITER_BRANCH, HAND_IN, kind="correction")]
    return [ComposeReport(outcome_of(state), words_for(state)["not_handed_in"])]


def _is_rewriting(state: RunState, writer: Branch) -> bool:
    return (
        state.is_report_refused
        or writer.told_since
        or writer.retry_at is not None
        or not is_idle(state, writer)
    )


def _judged(state: RunState, writer: Branch, now: datetime) -> Sequence[Command]:
    """Review the report, have people agree to it, and end."""
    if State.REVIEWING not in working_states(state):
        return _agreed(state, now)
    if state.state is not State.REVIEWING:
        return [enter(state, State.REVIEWING, "the report is written")]
    name = final_name(state)
    branch = state.branches.get(name)
    if branch is None:
        return [_final_reviewer(state, name)]
    if branch.answer is None:
        return converse(state, name, now, form="verdict")
    if branch.answer.problem is not None and branch.slips < MAX_SLIPS:
        return [correct(branch, branch.answer.problem)]
    return _verdict(state, branch.answer.value, now)


def _final_reviewer(state: RunState, name: str) -> Command:
    return open_branch(
        name,
        "reviewer",
        purpose="final_review",
        system=prompt_of(state, "reviewer", REVIEWER),
        opening=final_opening(state.input),
        material_from="writer",
        tools=tools_of(state, "reviewer"),
        shows_report=True,
    )


def _verdict(state: RunState, value: Json, now: datetime) -> Sequence[Command]:
    verdict, why = text_in(value, "verdict"), texts_in(value, "reasons")
    if verdict == "revise" and state.rewrites < MAX_REWRITES:
        return [_sent_back(why)]
    if verdict == "replan" and not planning.takes_as_it_is(state):
        return planning.refuse(state, "reviewer", why or ("the reviewer asked for another plan",))
    return _agreed(state, now)


def _agreed(state: RunState, now: datetime) -> Sequence[Command]:
    shown: Json = {
        "title": state.report_title,
        "outcome": state.report_outcome,
        "digest": state.report_digest,
    }
    passage = point_passage(state, "report", str(state.report_position), shown, now)
    if passage.gate is Gate.WAIT:
        return passage.commands
    if passage.gate is Gate.REFUSED:
        if state.rewrites < MAX_REWRITES:
            return [_sent_back((_comment(passage),))]
        detail = f"A person refused the report: {_comment(passage)}."
        return [fail(state, "report_refused", detail, "`outlast resume RUN` asks again.")]
    outcome = "partial" if state.report_outcome == "partial" else outcome_of(state)
    return [enter(state, State.COMPLETED, "the report is done", outcome)]


def _sent_back(why: Sequence[str]) -> Command:
    return tell(
        WRITER_BRANCH, sent_back("the report"), sender="reviewer", kind="feedback", material=reasons(why)
    )


def _comment(passage: Passage) -> str:
    return refusal_in_words(passage.ticket) if passage.ticket is not None else ""
