"""Code of the user's that quits, will not stop, or does not come back."""

import signal

from tests.e2e.command_line import Home

STUBBORN = """
import asyncio
from outlast.tools import tool


@tool(effect="read", timeout_seconds=0.1)
async def stubborn() -> str:
    \"\"\"Will not stop.\"\"\"
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            continue
"""

QUITS = """
from outlast.tools import tool


@tool
async def note() -> str:
    \"\"\"Note.\"\"\"


raise SystemExit(0)
"""
HANGS = """
import sys
import time


def hangs(ctx):
    print("in the hook", file=sys.stderr, flush=True)
    time.sleep(3600)
"""


def test_a_file_that_quits_when_it_is_imported_is_an_error_and_no_success(talking: Home) -> None:
    talking.write("tools/quits.py", QUITS)
    talking.write("script.yaml", "- say: done\n")
    talking.write("tasks/quits.py", "raise SystemExit(0)\n")
    talking.write("tasks/talk.yaml", "task: {name: talk, workflow: chat, tools: [note]}\n")
    talking.write("tasks/own.yaml", "task: {name: own, tools: [send], workflow: 'quits:decide'}\n")
    for task, told in (
        ("talk", "quits.py cannot be imported: SystemExit: 0"),
        ("own", "cannot be loaded: SystemExit: 0"),
    ):
        ended = talking.outlast("run", "--task", task, "--input", "x")
        assert ended.code == 2
        assert told in ended.err
    assert talking.outlast("tools", "check").code == 2


def test_a_tool_that_will_not_stop_holds_neither_the_run_nor_the_end_of_the_command_up(talking: Home) -> None:
    talking.write("tools/stubborn.py", STUBBORN)
    talking.write("tasks/talk.yaml", "task: {name: talk, workflow: chat, tools: [stubborn]}\n")
    talking.write("script.yaml", "- call: [{tool: stubborn}]\n- say: done\n")
    ended = talking.outlast("run", "--task", "talk", "--input", "x", "--set", "harness.retry.max_attempts=1")
    assert (ended.code, ended.out.strip()) == (0, "done")
    assert "timeout" in ended.err
    assert "Task was destroyed" not in ended.err
    assert "event loop" not in ended.err, ended.err


def test_a_plain_hook_that_does_not_come_back_does_not_keep_an_interrupted_command(talking: Home) -> None:
    talking.write("tasks/hangs.py", HANGS)
    talking.write("script.yaml", "- say: done\n")
    talking.write(
        "tasks/talk.yaml",
        "task: {name: talk, workflow: chat, tools: [send], hooks: {on_enter_EXECUTING: 'hangs:hangs'}}\n",
    )
    going = talking.start("run", "--task", "talk", "--input", "x")
    going.until("in the hook")
    going.signal(signal.SIGINT)
    going.until("Stopping")
    going.signal(signal.SIGINT)
    assert going.end().code == 130
