"""The server as a whole: its health, its workers, and what is downloaded from it."""

import asyncio
import re
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.report import Citation, Claim, Report, Section
from outlast.service.reports.html import to_html
from outlast.tools import tool
from tests.law import law
from tests.unit.gateway.house import eventually, house_of

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "[go](javascript:alert(1))",
    "<svg/onload=alert(1)>",
    "```\n<form action=//evil><input name=p></form>\n```",
    '"><script>1</script>.txt',
]


async def test_health_says_that_the_process_is_there_and_readiness_that_it_works(tmp_path: Path) -> None:
    async with house_of(tmp_path, workers=2) as house:
        await eventually(lambda: house.serving.site.crew.at_work == 2)
        assert (await house.client.get("/healthz")).json() == {"status": "ok"}
        ready = await house.client.get("/readyz")
        assert (ready.status_code, ready.json()["workers"], ready.json()["workers_wanted"]) == (200, 2, 2)
        runs = [(await house.start())["run_id"] for _ in range(6)]
        for run_id in runs:
            await house.until(run_id, "COMPLETED")
        figures = (await house.client.get("/metrics")).text
        assert "outlast_workers 2.0" in figures
        made = re.findall(
            r'outlast_http_requests_total\{method="POST",route="/api/runs",status="20\d"\} (\d)\.0', figures
        )
        assert sum(map(int, made)) == 6, "202, or 200 for a run that had ended by then"
        assert "r-" not in figures.replace("outlast_http_r", ""), "patterns are counted, never ids"
        house.serving.site.closing.set()
        closing = await house.client.get("/readyz")
        assert (closing.status_code, closing.json()["closing"]) == (503, True)


async def test_each_worker_lives_in_a_store_that_offers_residences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside: list[str] = []
    left: list[str] = []

    @asynccontextmanager
    async def residence(_store: SqliteStore) -> AsyncIterator[None]:
        inside.append(threading.current_thread().name)
        yield
        left.append(threading.current_thread().name)

    monkeypatch.setattr(SqliteStore, "residence", residence, raising=False)
    async with house_of(tmp_path, workers=2) as house:
        await eventually(lambda: len(inside) == 2)
        await house.until((await house.start())["run_id"], "COMPLETED")
        assert not left
    assert sorted(inside) == sorted(left) == ["outlast-worker-1", "outlast-worker-2"]


async def test_readiness_tells_of_a_store_that_does_not_answer_and_health_does_not(tmp_path: Path) -> None:
    async with house_of(tmp_path, workers=0) as house:
        await house.serving.site.store.close()
        ready = await house.client.get("/readyz")
        assert (ready.status_code, ready.json()["store"]) == (503, "unreachable")
        assert (await house.client.get("/healthz")).status_code == 200
        refused = await house.client.get("/api/runs")
        assert refused.status_code in (500, 503)
        assert refused.headers["content-type"] == "application/problem+json"
        await house.serving.site.store.open()


async def test_tool_that_blocks_its_worker_blocks_no_request(tmp_path: Path) -> None:
    is_in, may_go = threading.Event(), threading.Event()

    @tool(effect="read", name="ask_human")
    async def stuck(question: str) -> str:
        """Hold the whole loop of the worker."""
        is_in.set()
        may_go.wait(20)
        return "freed"

    script = [
        {"when": {"turn": 0}, "call": {"tool": "ask_human", "arguments": {"question": "?"}}},
        {"say": "Done."},
    ]
    async with house_of(tmp_path, script, tools=[stuck]) as house:
        run_id = (await house.start("ask"))["run_id"]
        await asyncio.to_thread(is_in.wait, 20)
        for path in ("/healthz", f"/api/runs/{run_id}", "/api/runs"):
            assert (await house.client.get(path)).status_code == 200
        may_go.set()
        await house.until(run_id, "COMPLETED")


@law("DOOR-1.e")
@pytest.mark.parametrize("text", HOSTILE)
async def test_g11_06_hostile_text_goes_out_as_json_or_as_a_download_that_does_nothing(
    tmp_path: Path, text: str
) -> None:
    async with house_of(tmp_path, [{"say": text, "repeat": True}]) as house:
        run_id = (await house.start("talk", text))["run_id"]
        shown = await house.until(run_id, "COMPLETED")
        assert shown["answer"] == text
        answer = await house.client.get(f"/api/runs/{run_id}")
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"
        thread = await house.client.post("/api/threads", json={"title": text})
        assert thread.json()["title"] == text.strip()
        strange = await house.client.get("/api/tasks", params={"x": text})
        assert strange.headers["content-type"] == "application/json"
        lost = await house.client.get(f"/api/runs/{quote(text.replace('/', ''))}")
        assert lost.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "body",
    [
        r'{"task": "talk", "input": "x", "config": {"\ud83d": 1}}',
        r'{"task": "talk", "input": "x", "config": {"llm.model": "\ud83d"}}',
        r'{"task": "talk", "input": "x", "thread_id": "\ud83d"}',
        r'{"task": "\ud83d", "input": "x"}',
        r'{"task": "talk", "input": "\ud83d", "multitask_strategy": "\ud83d"}',
    ],
)
async def test_text_that_is_no_text_is_refused_and_the_refusal_may_quote_it(
    tmp_path: Path, body: str
) -> None:
    async with house_of(tmp_path) as house:
        answer = await house.client.post(
            "/api/runs", content=body, headers={"Content-Type": "application/json"}
        )
        assert 400 <= answer.status_code < 500, answer.text
        assert answer.json()["next"]


@pytest.mark.parametrize("text", HOSTILE)
def test_g11_06_report_as_a_page_holds_hostile_text_as_text(text: str) -> None:
    claims = (Claim(text, ("S1",), (3,), 0.5, text),)
    source = Citation("S1", text, "javascript:alert(1)", text, "2026-01-01T00:00:00+00:00", 3, None)
    page = to_html(Report(text, text, text, (Section(text, claims),), (source,), (text,), "full"))
    for alive in ("<img", "<svg", "<form", "<script", 'href="javascript'):
        assert alive not in page


async def test_report_is_a_download_that_no_browser_runs(tmp_path: Path) -> None:
    async with house_of(tmp_path) as house:
        run_id = (await house.start())["run_id"]
        await house.until(run_id, "COMPLETED")
        none = await house.client.get(f"/api/runs/{run_id}/report?format=html")
        assert (none.status_code, none.json()["code"]) == (404, "no_report")
