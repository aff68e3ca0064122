"""What may be asked of a run that is there. Each answers with its `show` document; its worker acts within a second."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from outlast.domain.errors import CallerMistake
from outlast.gateway.access import Writer
from outlast.gateway.orders import allowed_overrides, shown
from outlast.gateway.owned import RunToChange
from outlast.gateway.shapes.asked import Answer, Decision, Fork, Limits, Reason, Saying
from outlast.gateway.shapes.run import RunDocument
from outlast.gateway.site import AtSite
from outlast.service import signals
from outlast.service.tickets import run_of_ticket

router = APIRouter(
    prefix="/api",
    tags=["steering"],
)

_changing = partial(
    router.post, status_code=202, response_model=RunDocument, responses={200: {"model": RunDocument}}
)


@_changing("/runs/{run_id}/pause")
async def pause(run: RunToChange, caller: Writer, site: AtSite) -> JSONResponse:
    """Let the calls in flight end and begin no other."""
    await signals.pause(site.store, run.run_id, caller.user_id)
    return await shown(site, caller, run.run_id)


@_changing("/runs/{run_id}/resume")
async def resume(run: RunToChange, caller: Writer, site: AtSite) -> JSONResponse:
    """Go on with a run that is paused or failed."""
    await signals.resume(site.store, run.run_id, caller.user_id)
    return await shown(site, caller, run.run_id)


@_changing("/runs/{run_id}/cancel")
async def cancel(run: RunToChange, caller: Writer, site: AtSite, why: Reason | None = None) -> JSONResponse:
    """End a run now; its calls in flight are killed."""
    await signals.cancel(site.store, run.run_id, caller.user_id, why.reason if why is not None else "")
    return await shown(site, caller, run.run_id)


@_changing("/runs/{run_id}/say")
async def say(run: RunToChange, caller: Writer, site: AtSite, words: Saying) -> JSONResponse:
    """Tell a run something; its model hears it before it speaks next."""
    await signals.say(site.store, run.run_id, caller.user_id, words.text, pin=words.pin)
    return await shown(site, caller, run.run_id)


@_changing("/runs/{run_id}/answer")
async def answer(run: RunToChange, caller: Writer, site: AtSite, given: Answer) -> JSONResponse:
    """Answer the open question of a run, or the one named."""
    await signals.answer(site.store, run.run_id, caller.user_id, given.text, given.question)
    return await shown(site, caller, run.run_id)


@_changing("/runs/{run_id}/limits")
async def limits(run: RunToChange, caller: Writer, site: AtSite, changed: Limits) -> JSONResponse:
    """Change limits of a run."""
    await signals.set_limits(site.store, run.run_id, caller.user_id, dict(changed.limits))
    return await shown(site, caller, run.run_id)


@_changing("/runs/{run_id}/fork")
async def fork(run: RunToChange, caller: Writer, site: AtSite, wanted: Fork) -> JSONResponse:
    """Copy a run up to one of its events into a new run in a new thread, which goes on from there."""
    overrides = allowed_overrides(caller, wanted.config)
    begun = await site.aside.do(site.engine.fork(run.run_id, wanted.at, caller.user_id, overrides))
    return await shown(site, caller, begun.run_id)


@_changing("/approvals/{ticket}")
async def decide(ticket: str, caller: Writer, site: AtSite, made: Decision) -> JSONResponse:
    """Approve or reject what a run asks approval for."""
    run_id = await run_of_ticket(site.store, ticket, caller.user_id, made.run_id)
    if made.decision == "reject":
        if made.edit is not None:
            raise CallerMistake(
                "bad_edit", "A rejection edits nothing.", "Approve with the edit, or reject with a comment."
            )
        await signals.reject(site.store, run_id, caller.user_id, ticket, made.comment)
    else:
        check = site.engine.builder.problems_with_call
        await signals.approve(site.store, run_id, caller.user_id, ticket, made.edit, check)
    return await shown(site, caller, run_id)
