"""The `chat` workflow: one conversation with tools, INIT -> EXECUTING -> COMPLETED."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from outlast.domain.commands import Command
from outlast.domain.run import MAIN_BRANCH, RunState
from outlast.domain.states import State
from outlast.runs.converse import converse, failure_of, has_failed
from outlast.runs.cut_short import cut_short
from outlast.runs.moves import enter, open_branch
from outlast.runs.prompts.chat import OPENING, SYSTEM
from outlast.runs.prompts.roles import prompt_of


def decide(state: RunState, now: datetime) -> Sequence[Command]:
    """What a chat does next."""
    if state.state is State.INIT:
        return [enter(state, State.EXECUTING, "begin")]
    branch = state.branches.get(MAIN_BRANCH)
    if branch is None:
        opening = OPENING.format(input=state.input)
        system = prompt_of(state, "chat", SYSTEM)
        purpose, tools = "notify" if state.tells_of else "chat", state.definition.tools
        return [
            open_branch(MAIN_BRANCH, "chat", system=system, opening=opening, purpose=purpose, tools=tools)
        ]
    if branch.answer is not None:
        outcome = "partial" if branch.is_stopped else "full"
        return [cut_short(state) if state.reached else enter(state, State.COMPLETED, "answered", outcome)]
    if has_failed(branch):
        return [failure_of(state, branch)]
    return converse(state, MAIN_BRANCH, now)
