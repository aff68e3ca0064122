"""Runs that are interrupted, killed, or wanted by two."""

import io
import json
import signal
from contextlib import redirect_stderr
from unittest.mock import patch

from outlast.cli.main import answer
from tests.e2e.command_line import Home
from tests.law import law

HOLD = "- call: [{tool: hold}]\n- say: done\n"
LEASE_SECONDS = 15.0


def test_an_interrupted_run_is_handed_back_and_resumed_where_it_was(talking: Home) -> None:
    talking.write("script.yaml", HOLD)
    worked = talking.start("run", "--task", "talk", "--input", "hello")
    worked.until("hold")
    worked.signal(signal.SIGINT)
    worked.until("Stopping")
    talking.write("go", "")
    ended = worked.end()
    run = talking.run_id()
    assert ended.code == 130
    assert f"outlast resume {run}" in ended.err
    assert talking.trace(run)[-1]["data"] == {"reason": "shutdown"}

    done = talking.outlast("resume", run)
    assert (done.code, done.out.strip()) == (0, "done"), done.err
    trace = talking.trace(run)
    assert [line["kind"] for line in trace].count("ToolRequested") == 1


def test_a_second_interrupt_ends_at_once(talking: Home) -> None:
    talking.write("script.yaml", HOLD)
    worked = talking.start("run", "--task", "talk", "--input", "hello")
    worked.until("hold")
    worked.signal(signal.SIGTERM)
    worked.until("Stopping")
    worked.signal(signal.SIGINT)
    assert worked.end().code == 130
    talking.write("go", "")
    assert talking.outlast("resume", talking.run_id()).out.strip() == "done"


@law("RUN-4.d")
def test_a_run_whose_process_was_killed_is_taken_over_at_once(talking: Home) -> None:
    talking.write("script.yaml", HOLD)
    worked = talking.start("run", "--task", "talk", "--input", "hello", "--key", "k")
    worked.until("hold")
    run = talking.run_id()
    worked.kill()
    assert json.loads(talking.here("doctor", run, "--json").out)["holder_is"] == "gone"
    told = talking.here("say", run, "go on")
    assert f"outlast resume {run}" in told.err
    talking.write("go", "")
    done = talking.outlast("run", "--task", "talk", "--input", "hello", "--key", "k", "--json")
    assert done.code == 0, done.err
    claims = [line for line in talking.trace(run) if line["kind"] == "RunClaimed"]
    assert [claim["data"]["generation"] for claim in claims] == [1, 2]
    assert "Waiting." not in done.err


@law("RUN-10.a")
def test_two_processes_on_one_run_do_its_work_once(talking: Home) -> None:
    talking.write(
        "script.yaml",
        "- call: [{tool: hold}]\n- call: [{tool: send, arguments: {to: ann, body: once}}]\n- say: done\n",
    )
    first = talking.start("run", "--task", "talk", "--input", "hello")
    first.until("hold")
    run = talking.run_id()
    second = talking.start("resume", run)
    second.until("is worked on by")
    talking.write("go", "")
    ended = [first.end(), second.end()]
    assert [(one.code, one.out.strip()) for one in ended] == [(0, "done"), (0, "done")]
    assert (talking.folder / "sent.txt").read_text("utf-8") == "ann: once\n"


@law("RUN-11.d")
def test_a_failed_run_goes_on_at_the_step_that_failed(talking: Home) -> None:
    talking.write("script.yaml", "- call: [{tool: send, arguments: {to: ann, body: once}}]\n- fail: auth\n")
    failed = talking.outlast("run", "--task", "talk", "--input", "hello", "--key", "k", "--json")
    run = failed.document["run_id"]
    assert (failed.code, failed.document["state"]) == (1, "FAILED")
    assert failed.document["error"].keys() == {"code", "detail", "next"}
    assert f"outlast resume {run}" in failed.err
    assert "  it said: The script says that this call fails." in failed.err
    again = talking.here("run", "--task", "talk", "--input", "hello", "--key", "k")
    assert again.code == 1
    assert f"outlast resume {run}" in again.err
    talking.write("script.yaml", "- call: [{tool: send, arguments: {to: ann, body: once}}]\n- say: mended\n")
    done = talking.outlast("resume", run)
    assert (done.code, done.out.strip()) == (0, "mended"), done.err
    assert (talking.folder / "sent.txt").read_text("utf-8") == "ann: once\n"


@law("RUN-10.b")
def test_g07_01_a_worker_that_stood_still_past_its_lease_runs_nothing_more_and_shows_how_it_goes_on(
    talking: Home,
) -> None:
    talking.write(
        "script.yaml",
        "- call: [{tool: hold}]\n- call: [{tool: send, arguments: {to: ann, body: hi}}]\n- say: done\n",
    )
    words = ("run", "--task", "talk", "--input", "hello", "--key", "k")
    stopped = talking.start(*words, "--set", "harness.lease_seconds=2")
    stopped.until("hold")
    stopped.signal(signal.SIGSTOP)
    other = talking.start(*words)
    other.until("hold (try 2)")
    stopped.signal(signal.SIGCONT)
    stopped.until("was taken over by another worker")
    talking.write("go", "")
    for worked in (other, stopped):
        ended = worked.end()
        assert (ended.code, ended.out.strip()) == (0, "done"), ended.err
    assert (talking.folder / "sent.txt").read_text() == "ann: hi\n"
    claims = [line["data"] for line in talking.trace(talking.run_id()) if line["kind"] == "RunClaimed"]
    assert [claim["generation"] for claim in claims] == [1, 2]


@law("RUN-3.a", "RUN-10.a")
def test_g07_03_a_worker_goes_on_with_the_run_of_a_dead_process_and_leaves_the_live_one_alone(
    talking: Home,
) -> None:
    leased = ("--set", "harness.lease_seconds=1")
    talking.write("script.yaml", "- say: too late\n  delay_seconds: 60\n")
    at_once = ("--set", "memory.enabled=false")  # so that the model is asked in the commit that is shown
    dead = talking.start("run", "--task", "talk", "--input", "dies in a model call", *leased, *at_once)
    dead.until("INIT -> EXECUTING")
    dead.kill()
    dead_run = talking.run_id()
    talking.write("script.yaml", HOLD)
    longer = ("--set", "harness.lease_seconds=5")  # a busy machine may keep it from renewing one of a second
    alive = talking.start("run", "--task", "talk", "--input", "lives", *longer)
    alive.until("hold")
    live_run = talking.run_id()
    talking.write("script.yaml", "- say: went on\n")
    worked = talking.start("worker", *leased)
    followed = talking.start("trace", dead_run, "--follow")
    assert "COMPLETED" in followed.end().out
    worked.signal(signal.SIGTERM)
    assert worked.end().code == 0
    talking.write("go", "")
    assert alive.end().out.strip() == "done"
    kinds = [line["kind"] for line in talking.trace(live_run)]
    assert kinds.count("RunClaimed") == 1
    assert [line["kind"] for line in talking.trace(dead_run)].count("ModelRequested") == 2


def test_an_interrupt_while_the_command_still_loads_is_no_traceback() -> None:
    def interrupted(tokens: object) -> int:
        raise KeyboardInterrupt

    with patch("outlast.cli.dispatch.dispatch", interrupted), redirect_stderr(io.StringIO()) as err:
        assert answer(["runs"]) == 130
    assert err.getvalue() == "Interrupted.\n"
