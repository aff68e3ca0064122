"""Whether the server is there and serves, and figures for Prometheus."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from outlast.domain.errors import OutlastError
from outlast.gateway.access import Admin
from outlast.gateway.metrics import MEDIA_TYPE
from outlast.gateway.shapes.looks import Health, Readiness
from outlast.gateway.site import AtSite, Site
from outlast.service.background.verbs import count_troubles

router = APIRouter(tags=["server"])

STORE_SECONDS = 2.0
"""How long the store may take to answer before it counts as unreachable."""


@router.get("/healthz", response_model=Health)
async def healthz() -> JSONResponse:
    """The process is there."""
    return JSONResponse({"status": "ok"})


@router.get("/readyz", response_model=Readiness, responses={503: {"model": Readiness}})
async def readyz(site: AtSite) -> JSONResponse:
    """Are requests served: is the store reachable, and is every worker of this process at work?"""
    is_reachable = await _is_reachable(site)
    is_closing = site.closing.is_set()
    is_ready = is_reachable and not is_closing and site.crew.at_work == site.crew.size
    found = {
        "status": "ready" if is_ready else "not ready",
        "store": "reachable" if is_reachable else "unreachable",
        "workers": site.crew.at_work,
        "workers_wanted": site.crew.size,
        "closing": is_closing,
    }
    return JSONResponse(found, 200 if is_ready else 503)


async def _is_reachable(site: Site) -> bool:
    try:
        async with asyncio.timeout(STORE_SECONDS):
            await site.store.read_run("none")  # the time alone would not need the database
    except (OutlastError, TimeoutError):
        return False
    return True


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(caller: Admin, site: AtSite) -> Response:
    """Figures for Prometheus: of this server, and of all runs in its store."""
    await site.metrics.runs.refresh(site.store, site.aside)
    troubles = await count_troubles(site.store)
    text = site.metrics.text(streams=len(site.streams), workers=site.crew.at_work, **troubles)
    return Response(text, media_type=MEDIA_TYPE)
