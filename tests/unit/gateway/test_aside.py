"""What takes long is made aside: no other request waits for it."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from outlast.gateway.aside import Aside
from tests.patience import PATIENCE_SECONDS
from tests.unit.gateway.house import House, house_of


@pytest.fixture
async def aside() -> AsyncIterator[Aside]:
    opened = Aside(2)
    yield opened
    opened.stop()


async def test_work_that_holds_its_thread_holds_no_other(aside: Aside) -> None:
    is_in, may_go = threading.Event(), threading.Event()

    async def held() -> bool:
        is_in.set()
        return may_go.wait(PATIENCE_SECONDS)

    async def quick() -> str:
        return threading.current_thread().name

    holding = asyncio.create_task(aside.do(held()))
    async with asyncio.timeout(PATIENCE_SECONDS):
        assert await asyncio.to_thread(is_in.wait, PATIENCE_SECONDS)
        names = {await aside.do(quick()) for _ in range(3)}
        assert names == {"outlast-aside-2"}, "the one that is free"
        may_go.set()
        assert await holding


async def test_what_work_raises_reaches_whoever_waits_and_so_does_the_end(aside: Aside) -> None:
    async def fails() -> None:
        raise LookupError("nothing here")

    with pytest.raises(LookupError, match="nothing here"):
        await aside.do(fails())
    is_over = threading.Event()

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            is_over.set()

    waiting = asyncio.create_task(aside.do(waits()))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await asyncio.to_thread(is_over.wait, PATIENCE_SECONDS)


async def test_threads_begin_with_the_first_answer_and_end_with_the_gateway(aside: Aside) -> None:
    def names() -> list[str]:
        return [one.name for one in threading.enumerate() if one.name.startswith("outlast-aside")]

    async def nothing() -> None: ...

    aside.stop()
    assert names() == []
    await aside.do(nothing())
    assert names() == ["outlast-aside-1"]
    aside.stop()
    assert names() == []


async def test_journals_are_folded_in_no_thread_that_answers_requests(tmp_path: Path) -> None:
    async with house_of(tmp_path) as house:
        run_id = (await house.start())["run_id"]
        thread_id = (await house.until(run_id, "COMPLETED"))["thread_id"]
        asked = [
            f"/api/runs/{run_id}",
            f"/api/runs/{run_id}/trace",
            f"/api/runs/{run_id}/contexts/{await a_model_call(house, run_id)}",
            f"/api/threads/{thread_id}",
            "/api/runs",
            "/api/stats",
            "/api/stats/failed-calls",
            "/api/shadow",
        ]
        readers = note_readers(house.serving.site.store)
        for path in asked:
            answer = await house.client.get(path)
            assert answer.status_code == 200, answer.text
        assert await house.all_events(run_id)
        forked = await house.client.post(f"/api/runs/{run_id}/fork", json={"at": 2})
        assert forked.status_code in (200, 202), forked.text
        assert readers
        assert threading.current_thread().name not in readers


async def a_model_call(house: House, run_id: str) -> int:
    lines = (await house.client.get(f"/api/runs/{run_id}/trace")).json()["lines"]
    return next(line["seq"] for line in lines if line["kind"] == "ModelRequested")


def note_readers(store: Any) -> list[str]:
    """The threads in which events are asked of a store from now on."""
    readers: list[str] = []
    read = store.read_events

    def noting(*given: Any, **named: Any) -> Any:
        readers.append(threading.current_thread().name)
        return read(*given, **named)

    store.read_events = noting
    return readers
