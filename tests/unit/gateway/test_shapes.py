"""What the API gives has the shapes that /openapi.json says, for every kind of event there ever was."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from outlast.domain.report import Citation, Claim, FoundBy, Report, Section
from outlast.gateway.shapes.looks import TaskList, ToolList
from outlast.gateway.shapes.report import ReportDocument
from outlast.gateway.shapes.run import RunDocument, RunList
from outlast.gateway.shapes.thread import ThreadDocument, ThreadList
from outlast.gateway.shapes.trace import TraceLine
from outlast.journal.history import recorded_from
from outlast.service.reports.document import to_document
from outlast.service.trace import trace_of
from tests.golden.book import paths, read
from tests.law import law
from tests.unit.gateway.house import house_of


@pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)
def test_trace_of_every_golden_journal_has_its_shape(path: Path) -> None:
    book = read(path)
    for line in trace_of(book.known["run_id"], recorded_from(book.rows, book.payloads)):
        assert_fits(TraceLine, line)


def test_report_has_its_shape_also_where_it_is_new_and_nobody_searched() -> None:
    claims = (Claim("c", ("S1",), (3,), 0.5, "q"), Claim("d", ("S1",), (3,), 0.5, "q", is_new=True))
    sources = tuple(
        Citation("S1", "t", "u", "q", "2026-01-01T00:00:00+00:00", 3, by) for by in (None, FoundBy(2, "x"))
    )
    report = Report("t", "q", "s", (Section("h", claims),), sources, ("one",), "full")
    assert_fits(ReportDocument, to_document(report))


@law("DOOR-1.a")
async def test_documents_have_the_shapes_that_openapi_says(tmp_path: Path) -> None:
    async with house_of(tmp_path) as house:
        run = await house.start("gated")
        waiting = await house.until(run["run_id"], "WAITING")
        for document in (run, waiting):
            assert_fits(RunDocument, document)
        for path, shape in {
            "/api/runs": RunList,
            "/api/threads": ThreadList,
            f"/api/threads/{run['thread_id']}": ThreadDocument,
            "/api/tools": ToolList,
            "/api/tasks": TaskList,
        }.items():
            assert_fits(shape, (await house.client.get(path)).json())
        described = (await house.client.get("/openapi.json")).json()
        assert set(described["components"]["schemas"]["RunDocument"]["required"]) == set(waiting)
        assert "Problem" in described["components"]["schemas"]


def assert_fits(shape: type[BaseModel], document: dict[str, Any]) -> None:
    """A document has this shape, with every field that is required and none beside."""
    made = shape.model_validate(document, strict=False)
    assert set(document) <= set(type(made).model_fields)
