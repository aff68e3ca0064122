"""Background tasks as a configuration has them: their rules, their drivers, and their place beside the runs."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.ports.background_driver import Trouble
from outlast.ports.queue import Enqueue
from outlast.runs.shift import Shift
from outlast.tasks.desk import items_to_insert, read_kept
from outlast.tasks.loops import TaskShift
from outlast.tasks.rules import Moment
from outlast.tasks.wishes import begun
from outlast.wiring.background import LOCAL_CALL_SECONDS, DriversByKind, rules_of
from outlast.wiring.engine import Engine
from outlast.wiring.settings.load import load
from outlast.wiring.whole_shift import Tending, WholeShift
from tests.patience import PATIENCE_SECONDS
from tests.unit.tasks.props import RULES, task
from tests.unit.tasks.remote import DONE, Remote

CONFIGURATION = """
background_tasks: {poll_interval_seconds: 7, max_attempts: 2}
mcp_servers:
  renderer: {url: "http://127.0.0.1:1/mcp", timeout_seconds: 3, background_tasks: {poll_interval_seconds: 0.5, retention_days: 1}}
"""


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    (tmp_path / "outlast.yaml").write_text(CONFIGURATION)
    return Engine(load(tmp_path / "outlast.yaml"))


def test_a_server_follows_its_own_rules_where_it_has_some(engine: Engine) -> None:
    rules = rules_of(engine.settings)
    own, other, local = rules(task()), rules(task(server="else")), rules(task(driver="local", server="job"))
    assert (own.poll_interval_seconds, own.retention_days, own.call_seconds, own.max_attempts) == (
        0.5,
        1,
        3,
        2,
    )
    assert other == replace(RULES, poll_interval_seconds=7, max_attempts=2)
    assert local == replace(other, call_seconds=LOCAL_CALL_SECONDS)


async def test_a_driver_is_found_by_its_kind() -> None:
    remote = Remote()
    drivers = DriversByKind({"mcp": remote})
    assert await drivers.driver_for("mcp", "renderer") is remote
    unknown = await drivers.driver_for("else", "renderer")
    assert isinstance(unknown, Trouble)
    assert (unknown.code, unknown.passing) == ("driver_unknown", False)


async def test_a_worker_looks_after_background_tasks_and_is_not_idle_before(engine: Engine) -> None:
    remote = Remote(default=DONE)
    engine.drivers = DriversByKind({"mcp": remote})
    await engine.open()
    now = await engine.store.now()
    await engine.store.commit(
        items_to_insert(begun(task(created_at=now, updated_at=now), RULES, Moment(now)))
    )
    await engine.store.commit([Enqueue("task_poll", "k-1", now, "ann")])
    async with asyncio.timeout(PATIENCE_SECONDS):
        await engine.shift().serve(until_idle=True)
    kept = await read_kept(engine.store, "k-1")
    assert kept is not None
    assert not kept.task.is_open
    await engine.close()


async def test_a_shift_told_to_stop_before_it_begins_ends(engine: Engine) -> None:
    await engine.open()
    shift = engine.shift()
    shift.stop()
    async with asyncio.timeout(PATIENCE_SECONDS):
        await shift.serve()
    await engine.close()


@pytest.mark.parametrize("half", ["runs", "tasks"])
async def test_where_one_half_fails_the_other_ends_and_the_error_is_told(tmp_path: Path, half: str) -> None:
    class Failing:
        def stop(self) -> None:
            """Nothing to stop."""

        async def serve(self, *, until_idle: bool = False, on_ready: object = None) -> None:
            raise ValueError(half)

    store = SqliteStore(tmp_path / "outlast.db")
    await store.open()
    working = Engine(load(None, directory=tmp_path), store=store)
    tasks = Failing() if half == "tasks" else TaskShift(store, [])
    runs = Failing() if half == "runs" else Shift(working.worker())
    shift = WholeShift(runs, Tending(lambda: tasks))  # type: ignore[arg-type, return-value]
    with pytest.raises(ValueError, match=half):
        async with asyncio.timeout(PATIENCE_SECONDS):
            await shift.serve()
    with suppress(ValueError):
        await store.close()
