"""Workers of several machines on one Redis: they share the runs, and what one of them leaves behind the others finish."""

import shutil
from pathlib import Path

import pytest

from outlast.ports.run_rows import RunFilter
from outlast.ports.store import Store
from outlast.testing.servers.redis import RedisServer, find_binary
from outlast.wiring.engine import Engine, Request
from outlast.wiring.settings.load import load
from tests.e2e.command_line import Home
from tests.law import law

CONFIG = """
llm: {provider: scripted, script: script.yaml}
tools: {paths: [tools]}
harness: {lease_seconds: 2, persistence: {backend: redis, url: "${REDIS_URL}"}}
"""
SCRIPT = """
- call: [{tool: hold}]
- call: [{tool: send, arguments: {to: ann, body: hello}}]
- say: done
"""
RUNS = 6


async def reached(store: Store, run_id: str, kind: str, state: str = "") -> None:
    """Wait until a run has an event of this kind, or has ended in this state."""
    watch = store.watch([run_id])
    while kind not in {event.kind for event in await store.read_events(run_id)}:
        await watch.wait(10)
    while state and (row := await store.read_run(run_id)) is not None and row.state != state:
        assert row.is_active, row
        await watch.wait(10)
    watch.stop()


def another_machine(home: Home, folder: Path) -> Home:
    """The same configuration in another directory, that is all two machines have in common beside the server."""
    shutil.copytree(home.folder, folder)
    machine = Home(folder)
    machine.environ = home.environ
    return machine


@law("SCALE-1.b", "SCALE-1.c", "SCALE-1.d", "RUN-10.a")
async def test_workers_of_two_machines_share_runs_and_finish_those_of_one_that_was_killed(
    talking: Home, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with RedisServer(find_binary("valkey")) as server:
        talking.environ = {"REDIS_URL": server.url}
        talking.write("outlast.yaml", CONFIG)
        talking.write("script.yaml", SCRIPT)
        other = another_machine(talking, tmp_path_factory.mktemp("machine") / "other")
        engine = Engine(load(talking.folder / "outlast.yaml"), environ=talking.environ)
        await engine.open()
        doomed = talking.start("worker", "--concurrency", "3")
        going = other.start("worker", "--concurrency", str(2 * RUNS))
        for worker in (doomed, going):
            worker.until("is ready")
        runs = [(await engine.begin(Request(task="talk", input=f"number {n}"))).run_id for n in range(RUNS)]
        for run_id in runs:
            await reached(engine.store, run_id, "ToolRequested")
        entries = [await engine.store.read_entry("runs", run_id) for run_id in runs]
        holders = {entry.item: str(entry.holder) for entry in entries if entry is not None}
        assert len(set(holders.values())) == 2
        left_behind = [item for item, holder in holders.items() if f'"pid":{doomed.process.pid},' in holder]
        assert 0 < len(left_behind) < RUNS
        doomed.kill()
        for machine in (talking, other):
            machine.write("go", "")
        for run_id in left_behind:
            await engine.store.expire_lease("runs", run_id)  # type: ignore[attr-defined]
        runs.append((await engine.begin(Request(task="talk", input="the last"))).run_id)  # wakes the other
        for run_id in runs:
            await reached(engine.store, run_id, "RunClaimed", "COMPLETED")
        letters = [
            path.read_text() for machine in (talking, other) for path in machine.folder.glob("sent.txt")
        ]
        assert "".join(letters).count("ann: hello\n") == len(runs)
        assert {row.state for row in await engine.store.list_runs(RunFilter())} == {"COMPLETED"}
        await engine.close()
        other.close()
