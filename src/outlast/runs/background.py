"""Calls that go on in the background: what the model is told, and what is done where that cannot be."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Final

from outlast.domain.door import Json, clean_text, digest_of, stored_form
from outlast.domain.errors import ModelMistake
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

_SECONDS: Final = frozenset({"poll_after_seconds", "ttl_seconds"})
_SHOWN: Final = frozenset({"name", "status_message"})
"""Fields of a handle that hold numbers, and those of texts that are cleaned before they are shown and kept."""


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
    try:
        return await _told_of(desk, state, call, before, handle)
    except asyncio.CancelledError:
        await adrift(desk, state, call, handle)
        raise


async def _told_of(
    desk: Desk, state: RunState, call: Call, before: Sequence[AnyEvent], handle: Handle
) -> Outcome:
    office = desk.means.office
    if office is None or state.tells_of:
        if office is not None:
            await office.abandon(handle)
        detail = f"{call.call.name} goes on in the background, which is not possible here; it was cancelled."
        return Outcome([*before, _refused(call, ToolError("tool_failed", detail))])
    wrong = _wrong_in(handle)
    if wrong:
        await office.abandon(handle)
        detail = f"The handle that {call.call.name} returned cannot be kept: {wrong}. Its work was cancelled."
        return Outcome([*before, _refused(call, ToolError("invalid_output", detail))])
    begun = await office.name_for(state, call.call, handle.name or call.call.name)
    outcome = ToolOutcome(True, told_to_model(begun), task=begun)
    tracked = "The work it names is followed already, as another background task; that one goes on."
    otherwise = _refused(call, ToolError("already_tracked", tracked))
    answered = [*before, ToolAnswered(call.call.id, outcome)]
    return Outcome(answered, handle=handle, otherwise=otherwise, call=call)


async def adrift(desk: Desk, state: RunState, call: Call, handle: Handle) -> None:
    """See to work whose handle came when its call was over: nobody waits for it, so it is to end. Never raises.

    A call of a tool of ours goes on only once its row is written, so there is nothing to see to.
    """
    office = desk.means.office
    if office is None or handle.driver == LOCAL:
        return
    if state.tells_of or _wrong_in(handle):
        await office.abandon(handle)
    else:
        await office.adrift(state, call, handle)


def told_to_model(begun: Begun) -> str:
    """What a model is told of work that goes on."""
    told = {
        "background_task": {"id": begun.id, "name": begun.name, "status": "working"},
        "note": "It goes on in the background. Do not wait, ask for it again or poll: you will be told what becomes of it.",
    }
    return json.dumps(told, ensure_ascii=False)


def _wrong_in(handle: Handle) -> str:
    """Why a handle cannot be kept, if it cannot: it comes from a user's code, or as the other side gave it."""
    for part in fields(handle):
        held = getattr(handle, part.name)
        if part.name == "data":
            wrong = "" if _is_storable(held) else "is not plain JSON"
        elif part.name in _SECONDS:
            is_number = isinstance(held, int | float) and math.isfinite(held)
            wrong = "" if held is None or is_number else "is no number of seconds"
        elif not isinstance(held, str):
            wrong = "is no text"
        else:
            is_cleaned = part.name in _SHOWN
            wrong = (
                "" if is_cleaned or (clean_text(held) == held and "\0" not in held) else "is no valid text"
            )
        if wrong:
            return f"its {part.name} {wrong}"
    return ""


def _is_storable(data: Mapping[str, Json]) -> bool:
    try:
        return stored_form(dict(data)) is not None
    except (ModelMistake, TypeError, ValueError):
        return False


def _refused(call: Call, error: ToolError) -> ToolAnswered:
    return ToolAnswered(call.call.id, ToolOutcome(False, shown_error(error), error))
