"""Figures over many runs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from outlast.domain.ages import age_in
from outlast.gateway.access import Caller, Reader
from outlast.gateway.shapes.stats import FailedCalls, StatsDocument
from outlast.gateway.site import AtSite, Site
from outlast.service.periods import Period

router = APIRouter(prefix="/api/stats", tags=["stats"])

Since = Annotated[str, Query(description="How far back: 7d, 12h, 30d.", max_length=20)]
Task = Annotated[str | None, Query(description="Runs of this task only.")]
All = Annotated[bool, Query(alias="all", description="Everybody's runs; takes the scope `admin`.")]


@router.get("", response_model=StatsDocument)
async def stats(
    caller: Reader, site: AtSite, since: Since = "7d", task: Task = None, all_: All = False
) -> JSONResponse:
    """What runs have used and how they went: altogether, by day, by task, by model, by tool, and what failed of what."""
    period = await _period(site, caller, since, task, is_of_all=all_)
    return await site.aside.answer(site.statistics.of(period))


@router.get("/failed-calls", response_model=FailedCalls)
async def failed_calls(
    caller: Reader,
    site: AtSite,
    since: Since = "7d",
    task: Task = None,
    tool: Annotated[str | None, Query(description="Calls of this tool only.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    all_: All = False,
) -> JSONResponse:
    """The calls that failed, with what was asked, newest run first."""
    period = await _period(site, caller, since, task, is_of_all=all_)

    async def listed() -> dict[str, Any]:
        return {"calls": await site.statistics.failed_calls(period, tool, limit)}

    return await site.aside.answer(listed())


async def _period(site: Site, caller: Caller, since: str, task: str | None, *, is_of_all: bool) -> Period:
    if is_of_all:
        caller.require("admin")
    user = None if is_of_all else caller.user_id
    return Period(user, await site.store.now() - age_in(since), task)
