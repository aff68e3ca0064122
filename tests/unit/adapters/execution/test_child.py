"""Plain functions in processes of their own: what comes back, and that nothing stays behind."""

import asyncio
import os
import select
import signal
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from outlast.adapters.execution.binding import bind
from outlast.adapters.execution.child import Children
from outlast.domain.errors import Passing, ToolTrouble
from outlast.ports.tool import Ask, Draft, ToolContext, ToolResult
from tests.law import law
from tests.patience import PROMPT_SECONDS
from tests.unit.adapters.execution import plain_tools

pytestmark = pytest.mark.both_loops

MARK = "OUTLAST_TEST_MARK"
LS = Path("/bin/ls").read_bytes()


@pytest.fixture
async def children() -> AsyncIterator[Children]:
    made = Children()
    yield made
    made.close()


Run = Callable[..., Any]


@pytest.fixture
def run(children: Children, context: ToolContext) -> Run:
    async def call(declared: object, **arguments: Any) -> Any:
        return await bind(declared, children).run(arguments, context)

    return call


def processes_of(mark: str) -> list[int]:
    """The processes that carry `mark` in their environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def wait_for_end(process: int) -> None:
    """Wait until a process has ended, at most ten seconds."""
    try:
        ending = os.pidfd_open(process)
    except ProcessLookupError:
        return
    waiting = select.poll()
    waiting.register(ending)
    waiting.poll(10_000)
    os.close(ending)


async def test_value_comes_back_as_the_data_of_a_success(run: Run) -> None:
    assert await run(plain_tools.add, a=3, b=4) == ToolResult(success=True, data=7)


async def test_hints_are_honoured_in_the_child(run: Run) -> None:
    result = await run(plain_tools.describe, length={"amount": 2, "unit": "ft"})
    assert result.data == {"type": "Length", "unit": "FOOT", "key": "r-1.c1-0"}


async def test_every_kind_of_answer_comes_back(run: Run) -> None:
    assert await run(plain_tools.result_of_each_kind, kind="ask") == Ask("Which one?")
    assert await run(plain_tools.result_of_each_kind, kind="draft") == Draft({"title": "T", "sections": []})
    full = await run(plain_tools.result_of_each_kind, kind="full")
    assert (full.data, full.found[0].query, full.read[0].text) == ({"n": 1}, "q", "text")
    assert await run(plain_tools.result_of_each_kind, kind="failure") == ToolResult(success=False, error="no")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("raise", "ValueError: bad \ufffd text\nIt had printed:\nbefore it failed"),
        ("exit", "SystemExit: 3"),
        ("hard_exit", "exit code 7"),
        ("segfault", "SIGSEGV"),
    ],
)
async def test_exception_and_sudden_end_may_pass_and_are_told_in_words(
    run: Run, kind: str, words: str
) -> None:
    with pytest.raises(Passing, match=words) as caught:
        await run(plain_tools.result_of_each_kind, kind=kind)
    assert caught.value.code == "tool_failed"


@pytest.mark.parametrize(("kind", "words"), [("object", "$.a[1]"), ("large", "more than the 8388608")])
async def test_result_that_cannot_be_passed_on_is_a_failure(run: Run, kind: str, words: str) -> None:
    result = await run(plain_tools.result_of_each_kind, kind=kind)
    assert not result.success
    assert words in result.error


async def test_trouble_keeps_its_code(run: Run) -> None:
    with pytest.raises(ToolTrouble, match="No such page") as caught:
        await run(plain_tools.result_of_each_kind, kind="trouble")
    assert (caught.value.code, caught.value.next_step) == ("not_found", "Search again.")


async def test_forged_answer_is_refused(run: Run) -> None:
    with pytest.raises(ToolTrouble, match="no readable result"):
        await run(plain_tools.result_of_each_kind, kind="forged")


async def test_services_are_out_of_reach_and_the_error_says_so(run: Run) -> None:
    with pytest.raises(ToolTrouble, match=r"context\.search .* process of its own"):
        await run(plain_tools.search_from_here)


async def test_instance_takes_its_attributes_along(run: Run) -> None:
    assert (await run(plain_tools.Greeting("Bonjour"), name="Ada")).data == "Bonjour, Ada!"
    assert (await run(plain_tools.Greeting, name="Ada")).data == "Hello, Ada!"


@law("TOOL-3.d")
@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("sleep 300 & echo hi; wait", "hi"),
        ("echo hi; sleep 300 | cat", "hi"),
        ("echo hi; trap '' TERM; while :; do sleep 1; done", "hi"),
        ("echo hi; setsid sleep 300", "hi"),
        ("echo hi; (setsid nohup sleep 300 &); (setsid bash -c 'sleep 300 & sleep 300' &) ; sleep 300", "hi"),
    ],
)
async def test_g09_01_timeout_leaves_no_process_and_keeps_what_was_printed(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str, printed: str
) -> None:
    mark = str(tmp_path)
    began = time.monotonic()
    with pytest.raises(Passing, match=printed) as caught:
        await run(plain_tools.shell, command=f"export {MARK}='{mark}'; {command}")
    assert caught.value.code == "timeout"
    assert time.monotonic() - began < 2 + PROMPT_SECONDS
    assert processes_of(mark) == []


async def test_g09_01_cancel_leaves_no_process(run: Run, tmp_path: Path) -> None:
    mark, started = str(tmp_path), tmp_path / "started"
    os.mkfifo(started)
    # Who says that it has begun carries the mark: not the shell that exported it, nor its child before that is another program.
    command = f"export {MARK}='{mark}'; (setsid sleep 300 &); exec sh -c 'echo > {started}; sleep 300'"
    calling = asyncio.ensure_future(run(plain_tools.shell, command=command))
    await asyncio.to_thread(started.read_text)
    assert processes_of(mark)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert processes_of(mark) == []


async def test_g09_01_what_a_finished_call_left_in_the_background_is_ended(run: Run, tmp_path: Path) -> None:
    result = await run(
        plain_tools.shell, command=f"export {MARK}='{tmp_path}'; sleep 300 & setsid sleep 300 & echo hi"
    )
    assert result.data == "hi\n"
    assert processes_of(str(tmp_path)) == []


async def test_tree_is_ended_when_its_supervisor_is_killed(run: Run, tmp_path: Path) -> None:
    command = f"export {MARK}='{tmp_path}'; setsid sleep 300 & kill -9 $(ps -o ppid= -p $PPID); sleep 300"
    with pytest.raises(Passing, match="not known how far it came"):
        await run(plain_tools.shell, command=command)
    for left in processes_of(str(tmp_path)):
        await asyncio.to_thread(wait_for_end, left)
    assert processes_of(str(tmp_path)) == []


async def test_call_works_again_after_the_prepared_process_was_killed(run: Run, children: Children) -> None:
    await run(plain_tools.add, a=1)
    assert children._forker is not None
    os.kill(children._forker.pid, signal.SIGKILL)
    children._forker.wait()
    assert (await run(plain_tools.add, a=1)).data == 3


async def test_g09_02_fifty_stuck_calls_end_in_time_and_hold_up_nothing(run: Run, tmp_path: Path) -> None:
    late = tmp_path / "late"
    began = time.monotonic()
    stuck = [
        asyncio.ensure_future(run(plain_tools.sleep, seconds=600, late_file=str(late))) for _ in range(50)
    ]
    longest = 0.0
    while not all(one.done() for one in stuck):
        before = time.monotonic()
        await asyncio.wait(stuck, timeout=0.01)
        longest = max(longest, time.monotonic() - before)
    outcomes = await asyncio.gather(*stuck, return_exceptions=True)
    assert {getattr(one, "code", one) for one in outcomes} == {"timeout"}
    assert time.monotonic() - began < 30
    assert longest < PROMPT_SECONDS
    assert not late.exists()
    assert (await asyncio.to_thread(lambda: "free")) == "free"


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    ("command", "size"),
    [("yes | head -c 500000000", 500_000_000), ("python3 -c \"print('x'*300000000)\"", 300_000_001)],
)
async def test_g09_03_flood_of_output_takes_no_memory(
    children: Children, context: ToolContext, command: str, size: int
) -> None:
    tool: Any = replace(bind(plain_tools.shell, children), timeout_seconds=60)
    before = resident_bytes()
    result = await tool.run({"command": command}, context)
    assert resident_bytes() - before < 50_000_000
    assert f"of {size} bytes of output are left out" in result.data
    assert len(result.data) < 2_000_000


async def test_g09_03_long_text_keeps_head_and_tail_and_names_its_size(run: Run) -> None:
    result = await run(plain_tools.result_of_each_kind, kind="long")
    assert result.data.startswith("x" * 100)
    assert result.data.endswith("éend")
    assert "of 10000103 bytes" in result.data


async def test_g09_04_bytes_that_are_no_text_are_named(run: Run) -> None:
    for result in (
        await run(plain_tools.shell, command=r"printf 'caf\xe9\n\xff\xfe'"),
        await run(plain_tools.result_of_each_kind, kind="bytes"),
    ):
        assert result.data.startswith("caf\ufffd\n\ufffd\ufffd\n[Not all of this is UTF-8: 3 places")


async def test_g09_04_binary_is_kept_as_an_artifact(run: Run, artifacts: Any) -> None:
    result = await run(plain_tools.shell, command=r"printf 'caf\xe9\n'; cat /bin/ls")
    (digest,) = artifacts.kept
    assert artifacts.kept[digest] == b"caf\xe9\n" + LS
    assert digest in result.data
    assert "Binary output" in result.data


@pytest.mark.parametrize("padding", range(4))
async def test_g09_04_cut_splits_no_character(run: Run, padding: int) -> None:
    command = f"python3 -c \"print('x'*{padding} + '🙂'*1000000, end='')\""
    result = await run(plain_tools.shell, command=command)
    assert "\ufffd" not in result.data
    assert f"of {4_000_000 + padding} bytes" in result.data
