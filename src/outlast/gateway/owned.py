"""The run or thread a path names, if it is the caller's. Another's is answered like one that is not there."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path

from outlast.domain.errors import NotFound
from outlast.domain.ids import is_safe_id
from outlast.gateway.access import Caller, Reader, Writer
from outlast.gateway.site import AtSite, Site
from outlast.ports.run_rows import RunRow
from outlast.ports.thread_rows import ThreadRow
from outlast.service.show import owned_row
from outlast.service.threads import owned_thread

RunId = Annotated[str, Path(description="Id of a run of yours.")]
ThreadId = Annotated[str, Path(description="Id of a thread of yours.")]


def checked_id(what: str, given: str) -> str:
    """`given`, if it is fit to be an id. Raises NotFound, since nothing has such a name."""
    if is_safe_id(given):
        return given
    raise NotFound(f"unknown_{what}", f"There is no {what} {given[:80]}.", f"List yours: GET /api/{what}s.")


async def _run_to_read(run_id: RunId, caller: Reader, site: AtSite) -> RunRow:
    return await _run(run_id, caller, site)


async def _run_to_change(run_id: RunId, caller: Writer, site: AtSite) -> RunRow:
    return await _run(run_id, caller, site)


async def _run(run_id: str, caller: Caller, site: Site) -> RunRow:
    return await owned_row(site.store, checked_id("run", run_id), caller.user_id)


RunToRead = Annotated[RunRow, Depends(_run_to_read)]
"""The caller's run that the path names."""

RunToChange = Annotated[RunRow, Depends(_run_to_change)]
"""The same, for a caller that may change it."""


async def _thread_to_read(thread_id: ThreadId, caller: Reader, site: AtSite) -> ThreadRow:
    return await owned_thread(site.store, checked_id("thread", thread_id), caller.user_id)


async def _thread_to_change(thread_id: ThreadId, caller: Writer, site: AtSite) -> ThreadRow:
    return await owned_thread(site.store, checked_id("thread", thread_id), caller.user_id)


ThreadToRead = Annotated[ThreadRow, Depends(_thread_to_read)]
"""The caller's thread that the path names."""

ThreadToChange = Annotated[ThreadRow, Depends(_thread_to_change)]
"""The same, for a caller that may change it."""
