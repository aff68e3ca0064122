"""The `chat` workflow: one conversation with tools, INIT -> EXECUTING -> COMPLETED."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from outlast.domain.commands import Command, Record
from outlast.domain.run import MAIN_BRANCH, Answer, Branch, RunState
from outlast.domain.states import State
from outlast.runs.converse import MAX_SLIPS, converse, correct, failure_of, has_failed
from outlast.runs.cut_short import cut_short, ended_in_part
from outlast.runs.moves import enter, fail, open_branch
from outlast.runs.prompts.chat import OPENING, SYSTEM
from outlast.runs.prompts.roles import prompt_of

_NEXT_STEP: Final = (
    "See `outlast trace RUN` for what it said; raise llm.max_tokens, ask for less or take another model; "
    "then go on in its thread."
)


def decide(state: RunState, now: datetime) -> Sequence[Command]:
    """What a chat does next."""
    branch = state.branches.get(MAIN_BRANCH)
    if branch is None:
        if state.state is State.INIT:
            return [enter(state, State.EXECUTING, "begin")]
        opening = OPENING.format(input=state.input)
        system = prompt_of(state, "chat", SYSTEM)
        purpose, tools = "notify" if state.tells_of else "chat", state.definition.tools
        return [
            open_branch(MAIN_BRANCH, "chat", system=system, opening=opening, purpose=purpose, tools=tools)
        ]
    if branch.answer is not None:
        return [_answered(state, branch, branch.answer)]
    if has_failed(branch):
        return [failure_of(state, branch)]
    return converse(state, MAIN_BRANCH, now)


def _answered(state: RunState, branch: Branch, answer: Answer) -> Record:
    """What an answer leads to: one that was cut or is empty is asked for again, and is never taken for a whole one."""
    if state.reached:
        return cut_short(state)
    if answer.problem is None:
        return enter(state, State.COMPLETED, "answered", "partial" if branch.is_stopped else "full")
    if branch.slips < MAX_SLIPS:
        return correct(branch, answer.problem)
    detail = f"The model gave no whole answer {branch.slips} times in a row. {answer.problem}"
    if answer.text.strip():
        return ended_in_part(state, "answer_cut", detail, _NEXT_STEP)
    return fail(state, "no_answer", detail, _NEXT_STEP)
