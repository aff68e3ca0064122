"""The events of a run as they happen."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import Response, StreamingResponse

from outlast.gateway.access import Reader
from outlast.gateway.owned import RunToRead
from outlast.gateway.site import AtSite
from outlast.gateway.streams import Stream, wanted_events
from outlast.service.show import is_over

router = APIRouter(prefix="/api/runs", tags=["runs"])

_UNBUFFERED = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""What keeps proxies from holding events back."""


async def _seat(caller: Reader, site: AtSite) -> AsyncIterator[None]:
    with site.streams.seat(caller.user_id):
        yield


@router.get(
    "/{run_id}/events",
    dependencies=[Depends(_seat)],
    response_class=Response,
    responses={
        200: {
            "content": {"text/event-stream": {"schema": {"$ref": "#/components/schemas/TraceLine"}}},
            "description": "Frames: `id` the position, `event` the kind, `data` the trace line.",
        },
        204: {"description": "The run has ended and you have all of it: do not connect again."},
    },
)
async def events(
    request: Request,
    run: RunToRead,
    site: AtSite,
    last_event_id: Annotated[
        str | None, Header(description="The id of the last frame you have; wins over `after`.")
    ] = None,
    after: Annotated[str | None, Query(description="The same, for the first connection.")] = None,
) -> Response:
    """The events of a run from where you left off, until it has ended; and, without an id, pieces of answers that are being made.

    Frames without an id: `delta` a piece of an answer, `resync` forget what you have and take all that follows, `end` the run has
    ended, `closing` the server is being stopped, `refused` you may read no longer.
    """
    wanted = await wanted_events(site.store, run.run_id, last_event_id or after)
    if wanted.after and await is_over(site.store, run.run_id, wanted.after):
        return Response(status_code=204)

    async def may_go_on() -> None:
        await site.access.identify(request)

    stream = Stream(site.store, site.engine.live, wanted, site.aside, site.closing, may_go_on)
    return StreamingResponse(stream.frames(), media_type="text/event-stream", headers=_UNBUFFERED)
