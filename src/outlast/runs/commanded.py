"""What a workflow asks for, looked at before anything of it is written: it may come from a user's code and be anything."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, get_args

from outlast.domain.commands import AskMemory, CallModel, CallTool, Command, ComposeReport, Record, RunHook
from outlast.domain.door import in_words, json_writer, stored_form
from outlast.domain.errors import CallerMistake
from outlast.domain.events import (
    KINDS,
    AnyEvent,
    ContextCrowded,
    ContextFolded,
    ContextSummarised,
    HookRequested,
    MemoryRecalled,
    ModelAnswered,
    ModelRequested,
    RecallRequested,
    RunClaimed,
    RunForked,
    RunReleased,
    RunStarted,
    ToolRequested,
)
from outlast.journal.codec import UNREADABLE, from_plain, to_plain

MEND: Final = "Mend the workflow, then `outlast resume RUN`."

_COMMANDS: Final = get_args(Command)
_EVENTS: Final = tuple(KINDS.values())
_OF_THE_ENGINE: Final = (
    ContextCrowded,
    ContextFolded,
    ContextSummarised,
    HookRequested,
    MemoryRecalled,
    ModelAnswered,
    ModelRequested,
    RecallRequested,
    RunClaimed,
    RunForked,
    RunReleased,
    RunStarted,
    ToolRequested,
)
"""What tells of claims, calls and contexts: true only where the engine, which made them, says so."""

_dump: Final = json_writer()


def must_be_commands(commands: Sequence[object]) -> None:
    """Raises TypeError for what a workflow returned beside commands, and for commands whose fields hold what they may not.

    Raises ModelMistake (`not_storable`) for arguments and infos that JSON cannot hold.
    """
    for command in commands:
        if not isinstance(command, _COMMANDS):
            raise TypeError(f"{command!r:.80} is no command; the moves in outlast.workflow make them")
        if not _is_whole(command):
            raise TypeError(f"{command!r:.200} has a field of another type than it may have")


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


def _is_whole(command: Command) -> bool:
    match command:
        case Record(event=event):
            if not isinstance(event, _EVENTS):
                raise TypeError(f"{event!r:.80} is no event that could be recorded")
            if isinstance(event, _OF_THE_ENGINE):
                raise TypeError(f"{type(event).__name__} is recorded by the engine alone")
            return True
        case CallModel(branch=str(), purpose=str(), form=None | str(), with_tools=bool()):
            return True
        case CallTool(call=str(), attempt=int(), edited=None):
            return True
        case CallTool(call=str(), attempt=int(), edited=dict() as held):
            return stored_form(held) is not None
        case RunHook(hook=str(), point=str(), subject=str(), info=dict() as held):
            return stored_form(held) is not None
        case AskMemory(branch=str()) | ComposeReport(outcome=str(), reason=str()):
            return True
        case _:
            return False
