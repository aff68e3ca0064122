"""Starting, listing and seeing runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from outlast.domain.states import State
from outlast.gateway.access import Reader, Writer
from outlast.gateway.exact import ExactJSONResponse
from outlast.gateway.orders import begin
from outlast.gateway.owned import RunToRead, checked_id
from outlast.gateway.shapes.asked import NewRunAnywhere
from outlast.gateway.shapes.context import ContextDocument
from outlast.gateway.shapes.report import ReportDocument
from outlast.gateway.shapes.run import RunDocument, RunList
from outlast.gateway.shapes.trace import TracePage
from outlast.gateway.site import AtSite
from outlast.ports.run_rows import RunFilter
from outlast.service.contexts import context_at
from outlast.service.reports.document import to_document
from outlast.service.reports.html import to_html
from outlast.service.reports.markdown import to_markdown
from outlast.service.show import list_runs, run_report, show_run
from outlast.service.threads import owned_thread
from outlast.service.trace import trace_page
from outlast.wiring.counting import count_tokens

router = APIRouter(prefix="/api/runs", tags=["runs"])

Key = Annotated[
    str | None,
    Header(alias="Idempotency-Key", description="A name for this run: the same request again finds it."),
]


@router.post("", status_code=202, response_model=RunDocument, responses={200: {"model": RunDocument}})
async def start(wanted: NewRunAnywhere, caller: Writer, site: AtSite, key: Key = None) -> JSONResponse:
    """Start a run, in a thread of yours or a new one."""
    if wanted.thread_id is not None:
        await owned_thread(site.store, checked_id("thread", wanted.thread_id), caller.user_id)
    return await begin(site, caller, wanted, key, thread_id=wanted.thread_id, continues=wanted.continues)


@router.get("", response_model=RunList)
async def list_(
    caller: Reader,
    site: AtSite,
    state: State | None = None,
    task: str | None = None,
    thread: str | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> JSONResponse:
    """Your runs, newest first, without plan and report."""
    wanted = RunFilter(user_id=caller.user_id, thread_id=thread, state=state, task=task, limit=limit)

    async def listed() -> dict[str, Any]:
        return {"runs": await list_runs(site.store, wanted)}

    return await site.aside.answer(listed())


@router.get("/{run_id}", response_model=RunDocument)
async def show(run: RunToRead, site: AtSite) -> JSONResponse:
    """A run as it stands."""
    return await site.aside.answer(show_run(site.store, run.run_id, run.user_id))


@router.get(
    "/{run_id}/report",
    response_model=ReportDocument,
    responses={200: {"content": {"text/markdown": {}, "text/html": {}}}},
)
async def report(
    run: RunToRead,
    site: AtSite,
    format: Literal["json", "md", "html"] = "json",  # noqa: A002 - as on the command line
) -> Response:
    """The report of a run: as JSON, as Markdown, or as a page of its own to keep."""

    async def written() -> Response:
        made = await run_report(site.store, run.run_id, run.user_id)
        if format == "json":
            return ExactJSONResponse(to_document(made))
        kept_as = {"Content-Disposition": f'attachment; filename="report-{run.run_id}.{format}"'}
        if format == "html":
            safe = {**kept_as, "Content-Security-Policy": _INERT}
            return Response(to_html(made), media_type="text/html", headers=safe)
        return PlainTextResponse(to_markdown(made), media_type="text/markdown", headers=kept_as)

    return await site.aside.do(written())


_INERT = "sandbox; default-src 'none'; style-src 'unsafe-inline'"
"""For a page of what models wrote, should a browser open it all the same: it may look like something and do nothing."""


@router.get("/{run_id}/trace", response_model=TracePage)
async def trace(
    run: RunToRead,
    site: AtSite,
    after: Annotated[int, Query(ge=0, le=2**53, description="The position of the last event you have.")] = 0,
    limit: Annotated[int, Query(ge=1, le=5000)] = 1000,
) -> JSONResponse:
    """The trace of a run, some lines at a time."""

    async def page() -> dict[str, Any]:
        lines, following = await trace_page(site.store, run.run_id, after, limit)
        return {"lines": lines, "next": following}

    return await site.aside.answer(page())


@router.get("/{run_id}/contexts/{seq}", response_model=ContextDocument)
async def context(
    run: RunToRead,
    seq: Annotated[int, Path(ge=1, le=2**53, description="The position at which a model was asked.")],
    site: AtSite,
) -> JSONResponse:
    """What the model saw for a call: every message, why it was in, and what it took of the budget."""
    return await site.aside.answer(context_at(site.store, run.run_id, seq, count_tokens))
