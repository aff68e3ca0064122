"""What a workflow asks for, looked at before anything of it is written: it may come from a user's code and be anything."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, get_args

from outlast.domain.commands import AskMemory, CallModel, CallTool, Command, ComposeReport, Record, RunHook
from outlast.domain.door import in_words, json_writer, stored_form
from outlast.domain.errors import CallerMistake
from outlast.domain.events import (
    KINDS,
    AnyEvent,
    ApprovalAsked,
    BranchOpened,
    LimitReached,
    LoopNoticed,
    PlanMade,
    PlanRefused,
    QuestionAsked,
    RecallFailed,
    StateEntered,
    SubtaskConcluded,
    SubtaskDropped,
    SubtaskReviewed,
    SubtaskStarted,
    TicketVoided,
    Told,
    ToolAnswered,
    ToolUnsettled,
    ValueSet,
)
from outlast.domain.run import RunState
from outlast.journal.codec import UNREADABLE, from_plain, to_plain
from outlast.runs.decide import Workflow

MEND: Final = "Mend the workflow, then `outlast resume RUN`."

RECORDED_BY_WORKFLOWS: Final = frozenset(
    {
        ApprovalAsked,
        BranchOpened,
        LimitReached,
        LoopNoticed,
        PlanMade,
        PlanRefused,
        QuestionAsked,
        RecallFailed,
        StateEntered,
        SubtaskConcluded,
        SubtaskDropped,
        SubtaskReviewed,
        SubtaskStarted,
        TicketVoided,
        Told,
        ToolAnswered,
        ToolUnsettled,
        ValueSet,
    }
)
"""What a workflow may record: what the moves and the shipped workflows do.

All else tells of claims, calls and contexts, and is true only where the engine says so, or is the word of a person or of another run.
"""

_COMMANDS: Final = get_args(Command)

_dump: Final = json_writer()


class Refused(Exception):
    """What a workflow asked for is nothing that a workflow may ask for; it says why, and what may be done instead."""


def held_to_commands(workflow: Workflow) -> Workflow:
    """A workflow that returns a list of whole commands, each of which a workflow may give, or raises.

    Beside what the workflow raises that is Refused, or ModelMistake (`not_storable`) for arguments and infos that JSON cannot hold.
    """

    def commands_of(state: RunState, now: datetime) -> Sequence[Command]:
        commands = list(workflow(state, now))
        for command in commands:
            _must_be_whole(command)
        return commands

    return commands_of


def recordable(event: AnyEvent) -> AnyEvent:
    """An event as it will be read from the journal. Raises CallerMistake (`workflow_failed`) for one it cannot hold."""
    try:
        body = _dump(to_plain(event))
        body.encode()
        read: AnyEvent = from_plain(type(event), json.loads(body))
    except UNREADABLE as error:
        kind, why = type(event).__name__, in_words(error)
        detail = f"The workflow recorded a {kind} that the journal cannot hold: {why}"
        raise CallerMistake("workflow_failed", detail, MEND) from error
    return read


def _must_be_whole(command: object) -> None:
    if isinstance(command, Record):
        _must_be_for_workflows(command.event)
    elif not _is_whole(command):
        if not isinstance(command, _COMMANDS):
            raise Refused(
                f"The workflow returned {command!r:.80}, which is no command; the moves in outlast.workflow make them."
            )
        raise Refused(
            f"The workflow returned {command!r:.200}, with a field of another type than it may have."
        )


def _must_be_for_workflows(event: object) -> None:
    kind = type(event)
    if kind in RECORDED_BY_WORKFLOWS:
        return
    if kind not in KINDS.values():
        raise Refused(
            f"The workflow recorded {event!r:.80}, which is no event; the moves in outlast.workflow make them."
        )
    detail = f"The workflow recorded a {kind.__name__}, which is not for workflows to say, but for the engine, people or other runs."
    raise Refused(
        f"{detail} Use the moves in outlast.workflow: enter, fail, tell, ask_person, set_value and the like."
    )


def _is_whole(command: object) -> bool:
    match command:
        case CallModel():
            return _asks_model(command)
        case CallTool():
            return _asks_tool(command)
        case RunHook(hook=str(), point=str(), subject=str(), info=dict() as held):
            return stored_form(held) is not None
        case AskMemory(branch=str()) | ComposeReport(outcome=str(), reason=str()):
            return True
        case _:
            return False


def _asks_model(asked: Any) -> bool:
    """A `CallModel`, written out for what is looked at in every round: a pattern with fields takes four times as long."""
    are_texts = isinstance(asked.branch, str) and isinstance(asked.purpose, str)
    is_form = asked.form is None or isinstance(asked.form, str)
    return are_texts and is_form and isinstance(asked.with_tools, bool)


def _asks_tool(asked: Any) -> bool:
    """The same for a `CallTool`."""
    is_edit = asked.edited is None or (
        isinstance(asked.edited, dict) and stored_form(asked.edited) is not None
    )
    return is_edit and isinstance(asked.call, str) and isinstance(asked.attempt, int)
