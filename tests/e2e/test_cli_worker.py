"""`outlast worker`: several of them on one store, stopped, killed, and known to those who leave work to them."""

import asyncio
import signal

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from tests.e2e.command_line import Going, Home
from tests.law import law
from tests.patience import PATIENCE_SECONDS

HOLD = "- call: [{tool: hold}]\n- say: done\n"
SEND = "- call: [{tool: send, arguments: {to: ann, body: hello}}]\n- say: done\n"


def ready(home: Home, *options: str) -> Going:
    """A worker that is there, known to everybody."""
    worker = home.start("worker", *options)
    worker.until("is ready")
    return worker


def detached(home: Home) -> str:
    """A run that is left to a worker."""
    left = home.here("run", "--task", "talk", "--input", "hello", "--detach")
    assert left.code == 0, left.err
    assert "A worker was started" not in left.err
    return left.out.strip()


def until(home: Home, run: str, kind: str, count: int = 1) -> None:
    """Wait until the journal of a run has so many events of a kind."""

    async def wait() -> None:
        store = SqliteStore(home.folder / ".outlast/outlast.db")
        await store.open()
        watch = store.watch([run])
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while [event.kind for event in await store.read_events(run)].count(kind) < count:
                    await watch.wait(0.1)
        finally:
            watch.stop()
            await store.close()

    asyncio.run(wait())


def kinds(home: Home, run: str) -> list[str]:
    return [line["kind"] for line in home.trace(run)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_that_is_stopped_gives_its_runs_back_and_ends_well(talking: Home, number: int) -> None:
    talking.write("script.yaml", HOLD)
    worker = ready(talking, "--log-level", "INFO")
    run = detached(talking)
    assert f"{run} taken" in worker.until(run)
    until(talking, run, "ToolRequested")
    worker.signal(number)
    worker.until("Stopping")
    talking.write("go", "")
    assert f"{run} given back: shutdown" in worker.until("given back")
    assert worker.end().code == 0
    assert talking.trace(run)[-1]["data"] == {"reason": "shutdown"}
    assert "ToolAnswered" in kinds(talking, run)
    assert talking.outlast("worker", "--until-idle").code == 0
    assert talking.here("show", run, "--json").document["state"] == "COMPLETED"


def test_a_second_signal_stops_a_worker_at_once(talking: Home) -> None:
    talking.write("script.yaml", HOLD)
    worker = ready(talking)
    run = detached(talking)
    until(talking, run, "ToolRequested")
    worker.signal(signal.SIGTERM)
    worker.until("Stopping")
    worker.signal(signal.SIGTERM)
    assert worker.end().code == 0
    assert talking.trace(run)[-1]["data"] == {"reason": "shutdown"}
    assert "ToolAnswered" not in kinds(talking, run)


def test_calls_that_outlast_the_bound_of_a_stopped_worker_are_killed(talking: Home) -> None:
    talking.write("script.yaml", HOLD)
    worker = ready(talking, "--set", "harness.drain_seconds=0.2")
    run = detached(talking)
    until(talking, run, "ToolRequested")
    worker.signal(signal.SIGTERM)
    assert worker.end().code == 0
    assert talking.trace(run)[-1]["data"] == {"reason": "shutdown"}


def test_a_worker_logs_warnings_and_no_runs_unless_it_is_asked_to(talking: Home) -> None:
    talking.write("script.yaml", SEND)
    worker = ready(talking)
    run = detached(talking)
    until(talking, run, "RunReleased")
    worker.signal(signal.SIGTERM)
    ended = worker.end()
    assert run not in ended.err
    assert talking.here("worker", "--log-level", "LOUD").code == 2
    assert talking.here("worker", "--concurrency", "0").code == 2


@law("RUN-10.a")
def test_two_workers_and_a_foreground_run_share_a_store(talking: Home) -> None:
    talking.write("script.yaml", SEND)
    workers = [ready(talking, "--log-level", "INFO", "--concurrency", "2") for _ in range(2)]
    runs = [detached(talking) for _ in range(4)]
    own = talking.outlast("run", "--task", "talk", "--input", "hello")
    assert (own.code, own.out.strip()) == (0, "done"), own.err
    for run in runs:
        until(talking, run, "RunReleased")
    for worker in workers:
        worker.signal(signal.SIGTERM)
    told = "".join(worker.end().err for worker in workers)
    for run in [*runs, talking.run_id()]:
        assert talking.here("show", run, "--json").document["state"] == "COMPLETED"
        assert kinds(talking, run).count("RunClaimed") == 1
    assert all(told.count(f"{run} taken") == 1 for run in runs)
    assert (talking.folder / "sent.txt").read_text("utf-8").count("\n") == 5


def test_who_leaves_a_run_to_workers_knows_whether_any_is_there(talking: Home) -> None:
    talking.write("script.yaml", "- call: [{tool: ask_human, arguments: {question: Which?}}]\n- say: done\n")
    worker = ready(talking)
    run = detached(talking)
    assert not (talking.folder / ".outlast/worker.log").exists()
    until(talking, run, "RunReleased")
    checks = talking.here("doctor", "--json").document["checks"]
    assert [str(worker.process.pid) in check["detail"] for check in checks if check["name"] == "workers"] == [
        True
    ]
    worker.kill()
    told = talking.here("answer", run, "red")
    assert f"outlast resume {run}" in told.err
    checks = talking.here("doctor", "--json").document["checks"]
    assert ["none" in check["detail"] for check in checks if check["name"] == "workers"] == [True]
    assert talking.outlast("worker", "--until-idle").code == 0
    assert talking.here("show", run, "--json").document["state"] == "COMPLETED"


def test_a_signal_to_a_run_that_rests_counts_on_a_live_worker(talking: Home) -> None:
    talking.write("script.yaml", "- call: [{tool: ask_human, arguments: {question: Which?}}]\n- say: done\n")
    worker = ready(talking)
    run = detached(talking)
    until(talking, run, "RunReleased")
    told = talking.here("answer", run, "red")
    assert "outlast resume" not in told.err
    until(talking, run, "RunReleased", count=2)
    worker.signal(signal.SIGTERM)
    assert worker.end().code == 0
