"""The event loops that runs are worked on in: uvloop's, in every process that is outlast's own."""

import signal

from tests.e2e import over_http
from tests.e2e.command_line import Home
from tests.e2e.test_cli_serve import frames, served
from tests.e2e.test_cli_worker import detached, ready, until

WHERE = '''
import asyncio
from pathlib import Path

from outlast.tools import tool

HERE = Path(__file__).resolve().parent.parent


@tool(effect="once")
async def where() -> str:
    """Note where this runs, from a process that is started there."""
    started = await asyncio.create_subprocess_exec("true")
    kinds = {kind.__module__ for kind in type(asyncio.get_running_loop()).__mro__}
    with (HERE / "loops.txt").open("a") as noted:
        noted.write(f"{'uvloop' in kinds} {await started.wait()}\\n")
    return "noted"
'''


def prepared(home: Home) -> None:
    home.write("tools/where.py", WHERE)
    home.write("tasks/talk.yaml", "task: {name: talk, workflow: chat, tools: [where]}\n")
    home.write("script.yaml", "- {when: {turn: 0}, call: {tool: where, arguments: {}}}\n- say: done\n")


def noted(home: Home) -> list[str]:
    return (home.folder / "loops.txt").read_text("utf-8").splitlines()


def test_a_run_of_the_terminal_is_worked_on_in_uvloop_and_doctor_says_so(talking: Home) -> None:
    prepared(talking)
    done = talking.outlast("run", "--task", "talk", "--input", "Go")
    assert (done.code, done.out.strip(), noted(talking)) == (0, "done", ["True 0"]), done.err
    checks = talking.here("doctor", "--json").document["checks"]
    assert [check["detail"] for check in checks if check["name"] == "event loop"] == ["uvloop's"]


def test_python_s_debugging_of_event_loops_finds_nothing_to_say(talking: Home) -> None:
    prepared(talking)
    done = talking.outlast(
        "run",
        "--task",
        "talk",
        "--input",
        "Go",
        environ={"PYTHONASYNCIODEBUG": "1", "PYTHONWARNINGS": "error"},
    )
    assert (done.code, done.out.strip(), noted(talking)) == (0, "done", ["True 0"]), done.err
    assert "Warning" not in done.err
    assert "Error" not in done.err


def test_a_worker_works_in_uvloop(talking: Home) -> None:
    prepared(talking)
    worker = ready(talking)
    until(talking, detached(talking), "RunReleased")
    worker.signal(signal.SIGTERM)
    assert (worker.end().code, noted(talking)) == (0, ["True 0"])


def test_every_worker_of_a_server_works_in_uvloop(talking: Home) -> None:
    prepared(talking)
    going, address = served(talking, "--port", "0", "--workers", "2")
    orders = [{"task": "talk", "input": "Go"} for _ in range(4)]
    for run_id in [over_http.post(f"{address}/api/runs", json=order).json()["run_id"] for order in orders]:
        with frames(address, run_id) as coming:
            assert list(coming)[-1]["state"] == "COMPLETED"
    going.signal(signal.SIGTERM)
    ended = going.end()
    assert (ended.code, noted(talking)) == (0, ["True 0"] * 4), ended.err
