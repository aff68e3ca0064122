"""What variants came to that ran beside chosen steps."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from outlast.domain.ages import age_in
from outlast.gateway.access import Reader
from outlast.gateway.shapes.shadow import ShadowDocument
from outlast.gateway.site import AtSite
from outlast.service.periods import Period

router = APIRouter(prefix="/api/shadow", tags=["shadow"])


@router.get("", response_model=ShadowDocument)
async def report(
    caller: Reader,
    site: AtSite,
    since: Annotated[str, Query(description="How far back: 7d, 12h, 30d.", max_length=20)] = "7d",
    task: Annotated[str | None, Query(description="Runs of this task only.")] = None,
    all_: Annotated[
        bool, Query(alias="all", description="Everybody's runs; takes the scope `admin`.")
    ] = False,
) -> JSONResponse:
    """How far variants agree with the steps beside which they ran, what both cost and how long both took."""
    if all_:
        caller.require("admin")
    user = None if all_ else caller.user_id
    began = await site.store.now() - age_in(since)
    return await site.aside.answer(site.shadows.of(Period(user, began, task)))
