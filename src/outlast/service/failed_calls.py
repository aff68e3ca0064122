"""The calls of a run that failed, with what was asked, as its journal has them."""

from __future__ import annotations

from typing import Any, Final

from outlast.domain.events import ModelAnswered, Recorded, ToolAnswered, ToolRequested
from outlast.domain.tool_call import ToolCall
from outlast.journal.codec import to_plain
from outlast.journal.history import read_history
from outlast.ports.store import Store
from outlast.runs.tally import UNKNOWN_TOOL

_EVENTS_AT_ONCE: Final = 1_000


async def failed_calls_in(store: Store, run_id: str, tool: str | None = None) -> list[dict[str, Any]]:
    """The calls of a run that failed, in order, of one tool if it is named; `raw` is what a model sent that was no JSON object."""
    asked: dict[str, ToolCall] = {}
    edited: dict[str, dict[str, Any]] = {}
    found: list[dict[str, Any]] = []
    position = 0
    while news := await read_history(store, run_id, position, _EVENTS_AT_ONCE):
        position = news[-1].position
        for recorded in news:
            match recorded.event:
                case ModelAnswered(tool_calls=calls):
                    asked.update({call.id: call for call in calls})
                case ToolRequested(call=name, edited=dict() as arguments):
                    edited[name] = arguments
                case ToolAnswered(call=name) as event if event.outcome.error is not None and name in asked:
                    call = asked[name]
                    if tool in (None, _counted_as(call, event)):
                        found.append(_failed(run_id, recorded, call, event, edited.get(name)))
                case _:
                    pass
    return found


def _counted_as(call: ToolCall, event: ToolAnswered) -> str:
    """The name of the tool under which a tally has a call."""
    error = event.outcome.error
    return UNKNOWN_TOOL if error is not None and error.code == "unknown_tool" else call.name


def _failed(
    run_id: str, recorded: Recorded, call: ToolCall, event: ToolAnswered, edited: dict[str, Any] | None
) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "seq": recorded.position,
        "at": recorded.at.isoformat(),
        "tool": call.name,
        "arguments": edited if edited is not None else call.arguments,
        "raw": call.raw,
        "error": to_plain(event.outcome.error),
    }
