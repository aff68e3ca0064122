"""Using the time in which something is waited for."""

import asyncio

import pytest

from outlast.runs.meanwhile import while_waiting


async def test_work_that_waits_leaves_time_once_and_comes_to_what_it_would() -> None:
    """It goes on for as many waits as it needs, in the task that waits for it."""
    order: list[str] = []

    async def work() -> str:
        order.append("sent")
        for turn in range(3):
            await asyncio.sleep(0)
            order.append(f"turn {turn}")
        assert asyncio.current_task() is task
        return "answer"

    task = asyncio.current_task()
    assert await while_waiting(work(), lambda: order.append("meanwhile")) == "answer"
    assert order == ["sent", "meanwhile", "turn 0", "turn 1", "turn 2"]


async def test_work_that_never_waits_leaves_no_time() -> None:
    """What is to be done in the meantime is then left to whoever asked."""

    async def work() -> int:
        return 7

    def never() -> None:
        raise AssertionError("there was no time")

    assert await while_waiting(work(), never) == 7


async def test_what_the_work_raises_is_raised_however_far_it_came() -> None:
    """Before it waited or after."""

    async def work(waits: int) -> None:
        for _ in range(waits):
            await asyncio.sleep(0)
        raise LookupError(f"after {waits}")

    for waits in (0, 1, 2):
        with pytest.raises(LookupError, match=f"after {waits}"):
            await while_waiting(work(waits), lambda: None)


async def test_trouble_in_the_meantime_is_told_once_the_work_is_done() -> None:
    """A write that is under way is not given up for it; where the work fails too, that is what counts."""
    is_written = False

    async def work() -> None:
        nonlocal is_written
        await asyncio.sleep(0)
        is_written = True

    async def fails() -> None:
        await asyncio.sleep(0)
        raise LookupError("the work")

    for trouble in (ValueError, KeyboardInterrupt):

        def meanwhile(trouble: type[BaseException] = trouble) -> None:
            raise trouble("the meantime")

        is_written = False
        with pytest.raises(trouble, match="the meantime"):
            await while_waiting(work(), meanwhile)
        assert is_written
        with pytest.raises(LookupError, match="the work"):
            await while_waiting(fails(), meanwhile)


async def test_work_nobody_waits_for_any_more_is_closed() -> None:
    """As when an event loop is gone; it may clean up."""
    seen: list[str] = []

    async def work() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            seen.append("cleaned up")

    waiting = while_waiting(work(), lambda: None)
    waiting.send(None)
    waiting.close()
    assert seen == ["cleaned up"]


async def test_a_cancellation_reaches_the_work() -> None:
    """It may clean up, and even go on."""
    seen: list[str] = []
    release = asyncio.Event()

    async def work() -> str:
        try:
            await release.wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            await asyncio.sleep(0)
            seen.append("cleaned up")
            raise
        return "answer"

    async def stubborn() -> str:
        try:
            await release.wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return "answer all the same"

    task = asyncio.create_task(_awaited(work))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["cancelled", "cleaned up"]
    task = asyncio.create_task(_awaited(stubborn))
    await asyncio.sleep(0)
    task.cancel()
    assert await task == "answer all the same"


async def _awaited(work) -> str:  # type: ignore[no-untyped-def]
    answer: str = await while_waiting(work(), lambda: None)
    return answer
