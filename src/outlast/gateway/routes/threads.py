"""Conversations."""

from __future__ import annotations

import secrets
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response

from outlast.gateway.access import Reader, Writer
from outlast.gateway.orders import begin
from outlast.gateway.owned import ThreadId, checked_id
from outlast.gateway.routes.runs import Key
from outlast.gateway.shapes.asked import NewRun, NewThread
from outlast.gateway.shapes.run import RunDocument
from outlast.gateway.shapes.thread import ListedThread, ThreadDocument, ThreadList
from outlast.gateway.site import AtSite
from outlast.service import threads
from outlast.service.thread_removal import Ender, delete_thread
from outlast.wiring.identity import as_holder, is_surely_gone, own_identity
from outlast.wiring.remembering import memory_in

router = APIRouter(prefix="/api/threads", tags=["threads"])


@router.post("", status_code=201, response_model=ListedThread)
async def open_(caller: Writer, site: AtSite, wanted: NewThread | None = None) -> JSONResponse:
    """Open a conversation."""
    title = wanted.title if wanted is not None else ""
    made = await threads.open_thread(site.store, caller.user_id, title, secrets.token_bytes(10))
    return JSONResponse(made, 201)


@router.get("", response_model=ThreadList)
async def list_(
    caller: Reader, site: AtSite, limit: Annotated[int, Query(ge=1, le=500)] = 100
) -> JSONResponse:
    """Your conversations, newest first."""
    return JSONResponse({"threads": await threads.list_threads(site.store, caller.user_id, limit)})


@router.get("/{thread_id}", response_model=ThreadDocument)
async def show(thread_id: ThreadId, caller: Reader, site: AtSite) -> JSONResponse:
    """A conversation and what was said in it."""
    name = checked_id("thread", thread_id)
    return await site.aside.answer(threads.show_thread(site.store, name, caller.user_id))


@router.delete("/{thread_id}", status_code=204)
async def delete(thread_id: ThreadId, caller: Writer, site: AtSite) -> Response:
    """Delete a conversation with everything in it and what it left in memory; what goes on in it is cancelled first."""
    ender = Ender(holder=as_holder(own_identity()), is_gone=is_surely_gone)
    name = checked_id("thread", thread_id)
    await delete_thread(site.store, memory_in(site.store), name, caller.user_id, ender)
    return Response(status_code=204)


@router.post(
    "/{thread_id}/runs", status_code=202, response_model=RunDocument, responses={200: {"model": RunDocument}}
)
async def start(
    thread_id: ThreadId, wanted: NewRun, caller: Writer, site: AtSite, key: Key = None
) -> JSONResponse:
    """Start a run in a conversation."""
    name = checked_id("thread", thread_id)
    await threads.owned_thread(site.store, name, caller.user_id)
    return await begin(site, caller, wanted, key, thread_id=name)
