"""What is remembered of whoever asks: looked through, and forgotten."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse, Response

from outlast.domain.errors import NotFound
from outlast.domain.ids import is_safe_id
from outlast.domain.memory import MemoryKind
from outlast.gateway.access import Reader, Writer
from outlast.gateway.exact import ExactJSONResponse
from outlast.gateway.shapes.memory import MemoryList
from outlast.gateway.site import AtSite, Site
from outlast.service.memory import Choice, forget_memory, list_memory, search_memory
from outlast.wiring.remembering import LongTermMemory, without_memory

router = APIRouter(prefix="/api/memory", tags=["memory"])


@router.get("", response_model=MemoryList)
async def list_(
    caller: Reader,
    site: AtSite,
    query: Annotated[str, Query(description="What to look for.", max_length=2000)] = "",
    kind: Annotated[
        MemoryKind | None, Query(description="Entries of this kind only, where nothing is looked for.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> JSONResponse:
    """What is remembered of you, newest first; with a query, what a run would be reminded of by it, best first."""
    kept, now = _memory(site), await site.store.now()
    if query.strip():
        found = await search_memory(kept, caller.user_id, query, now, limit=limit)
    else:
        found = await list_memory(kept.store, caller.user_id, Choice(kind=kind), now, limit=limit)
    return ExactJSONResponse({"memories": found})


@router.delete("/{memory_id}", status_code=204)
async def forget(
    memory_id: Annotated[str, Path(description="Id of an entry of yours.")], caller: Writer, site: AtSite
) -> Response:
    """Forget an entry for good."""
    if not is_safe_id(memory_id):
        raise NotFound(
            "unknown_memory", f"Memory has no entry {memory_id[:80]}.", "List yours: GET /api/memory."
        )
    await forget_memory(_memory(site).store, caller.user_id, Choice(ids=(memory_id,)))
    return Response(status_code=204)


def _memory(site: Site) -> LongTermMemory:
    if site.engine.memory is None:
        raise without_memory(site.engine.settings)
    return site.engine.memory
