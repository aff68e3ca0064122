"""Calls that go on in the background: what the model is told, and what is done where that cannot be."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from outlast.domain.door import Json, digest_of
from outlast.domain.events import AnyEvent, ToolAnswered
from outlast.domain.run import Call, RunState
from outlast.domain.tool_call import Begun, ToolError, ToolOutcome
from outlast.ports.background_driver import Handle
from outlast.ports.stream import Append, EventRow
from outlast.ports.tool import Background, ToolContext
from outlast.runs.desk import Desk, Outcome
from outlast.runs.moves import shown_error

LOCAL: Final = "local"
"""The driver of tools of ours: what goes on is the call itself, by whichever worker takes it."""


_BEGAN: Final = "LocalCallBegan"


def stream_of_begin(key: str) -> str:
    """The stream that says that the call with this idempotency key was begun by a worker."""
    return "l-" + digest_of(key)[:20]


def begin_item(key: str, now: datetime) -> Append:
    """What writes down that a call begins; it is refused where the call was begun before."""
    return Append(stream_of_begin(key), 0, (EventRow(1, _BEGAN, 1, now, "{}"),))


def local_handle(background: Background, arguments: dict[str, Json], context: ToolContext) -> Handle:
    """The handle of a call of a tool of ours that a worker will carry out."""
    return Handle(
        driver=LOCAL,
        server=background.server,
        principal=background.principal,
        protocol_version="1",
        remote_id=context.idempotency_key,
        data={"run_id": context.run_id, "call_id": context.call_id, "arguments": arguments},
        name=background.server,
    )


async def begun_in_background(
    desk: Desk, state: RunState, call: Call, before: Sequence[AnyEvent], handle: Handle
) -> Outcome:
    """The answer of a call whose work goes on. The model hears a local id and a name, never those of the other side."""
    office = desk.means.office
    if office is None or state.tells_of:
        if office is not None:
            await office.abandon(handle)
        detail = f"{call.call.name} goes on in the background, which is not possible here; it was cancelled."
        return Outcome([*before, _refused(call, ToolError("tool_failed", detail))])
    begun = await office.name_for(state, call.call, handle.name or call.call.name)
    outcome = ToolOutcome(True, told_to_model(begun), task=begun)
    tracked = "The work it names is followed already, as another background task; that one goes on."
    otherwise = _refused(call, ToolError("already_tracked", tracked))
    return Outcome([*before, ToolAnswered(call.call.id, outcome)], handle=handle, otherwise=otherwise)


def told_to_model(begun: Begun) -> str:
    """What a model is told of work that goes on."""
    told = {
        "background_task": {"id": begun.id, "name": begun.name, "status": "working"},
        "note": "It goes on in the background. Do not wait, ask for it again or poll: you will be told what becomes of it.",
    }
    return json.dumps(told, ensure_ascii=False)


def _refused(call: Call, error: ToolError) -> ToolAnswered:
    return ToolAnswered(call.call.id, ToolOutcome(False, shown_error(error), error))
