"""The loops of our own processes: uvloop's where it is there, and without its faults."""

import asyncio
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from io import FileIO

import pytest

from outlast.wiring import loops
from outlast.wiring.loops import loop_in_words, new_loop
from tests.patience import PATIENCE_SECONDS


@pytest.fixture
def no_uvloop(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A Python in which uvloop cannot be imported."""
    monkeypatch.setitem(sys.modules, "uvloop", None)
    loops._maker.cache_clear()
    yield
    loops._maker.cache_clear()


def kind_of_loop() -> str:
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.get_loop().__class__.__mro__[1].__module__


def test_the_loop_is_uvloop_s_where_that_is_installed() -> None:
    assert kind_of_loop() == "uvloop"
    assert loop_in_words() == "uvloop's"


@pytest.mark.usefixtures("no_uvloop")
def test_the_loop_is_python_s_own_where_uvloop_is_not_installed() -> None:
    assert kind_of_loop().startswith("asyncio.")
    assert "not installed" in loop_in_words()


@pytest.mark.parametrize("way", ["call_later", "call_at", "timeout"])
def test_a_timer_is_never_early(way: str) -> None:
    """Whoever looks too early finds nothing to do, and rests again."""

    async def seconds_early(delay_seconds: float) -> float:
        loop, is_over = asyncio.get_running_loop(), asyncio.Event()
        asked = time.monotonic()
        if way == "call_later":
            loop.call_later(delay_seconds, is_over.set)
        elif way == "call_at":
            loop.call_at(loop.time() + delay_seconds, is_over.set)
        with suppress(TimeoutError):
            async with asyncio.timeout(delay_seconds if way == "timeout" else PATIENCE_SECONDS):
                await is_over.wait()
        return delay_seconds - (time.monotonic() - asked)

    async def most() -> float:
        return max([await seconds_early(0.001 + number * 0.00013) for number in range(40)])

    with asyncio.Runner(loop_factory=new_loop) as runner:
        assert runner.run(most()) <= 0


def test_loops_of_several_threads_start_processes_at_the_same_time() -> None:
    """Somebody else takes turns with Python's lock meanwhile, and so uvloop's own loops would meet."""
    codes: list[int | None] = []
    is_over = threading.Event()

    async def start_some() -> None:
        for _ in range(20):
            process = await asyncio.create_subprocess_exec("true")
            codes.append(await process.wait())
            codes.append(await (await asyncio.create_subprocess_shell("true")).wait())

    def work() -> None:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(start_some())

    def busy() -> None:
        while not is_over.is_set():
            sum(range(1000))

    others, workers = threading.Thread(target=busy), [threading.Thread(target=work) for _ in range(3)]
    others.start()
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(PATIENCE_SECONDS)
    finally:
        is_over.set()
        others.join()
    assert codes == [0] * 120


def test_a_process_that_cannot_be_started_holds_up_no_other() -> None:
    async def start() -> int | None:
        with pytest.raises(FileNotFoundError):
            await asyncio.create_subprocess_exec("/no/such/program")
        return await (await asyncio.create_subprocess_exec("true")).wait()

    with asyncio.Runner(loop_factory=new_loop) as runner:
        assert runner.run(start()) == 0


@pytest.mark.parametrize("direction", ["read", "write"])
def test_the_descriptor_of_a_pipe_is_closed_once(direction: str) -> None:
    """One that is closed again may be another's by then: that of a database."""
    others: list[int] = []
    is_closing = asyncio.Event()

    class Pipe(FileIO):
        def close(self) -> None:
            if not self.closed:
                others.extend(os.pipe())  # what another thread might open just then
                is_closing.set()
            super().close()

    async def come_and_go() -> None:
        reading, writing = os.pipe()
        loop = asyncio.get_running_loop()
        mine = Pipe(reading, "rb") if direction == "read" else Pipe(writing, "wb")
        connect = loop.connect_read_pipe if direction == "read" else loop.connect_write_pipe
        transport, _ = await connect(asyncio.Protocol, mine)
        transport.close()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await is_closing.wait()
        assert mine.closed
        os.close(writing if direction == "read" else reading)

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(come_and_go())
    for descriptor in others:
        os.close(descriptor)  # raises where it has been closed already
