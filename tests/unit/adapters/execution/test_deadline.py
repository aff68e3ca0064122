"""The deadline of a call in the event loop: what comes of a call is what `asyncio.timeout` would have made of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from outlast.adapters.execution.binding import bind
from outlast.adapters.execution.deadline import Deadline
from outlast.domain.errors import Passing
from outlast.ports.tool import ToolContext, ToolResult, tool

SECONDS = 0.02

Work = Callable[[], Awaitable[str]]


def _this_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    assert task is not None
    return task


async def hangs() -> str:
    """Hang."""
    await asyncio.Event().wait()
    return "never"


async def ends_in_time() -> str:
    """End."""
    return "in time"


async def raises_timeout_of_its_own() -> str:
    """Raise."""
    raise TimeoutError("of its own")


async def meets_timeout_of_its_own() -> str:
    """Wait for less than there is."""
    async with asyncio.timeout(0):
        return await hangs()


async def hides_that_it_was_cancelled() -> str:
    """Raise something else."""
    try:
        return await hangs()
    except asyncio.CancelledError:
        raise ValueError("something else") from None


async def swallows_the_cancellation() -> str:
    """Answer too late."""
    try:
        return await hangs()
    except asyncio.CancelledError:
        return "too late"


async def cancels_itself() -> str:
    """Cancel the task."""
    _this_task().cancel()
    return await hangs()


async def cancels_itself_and_goes_on() -> str:
    """Cancel the task, and take no notice until the time is up."""
    _this_task().cancel()
    try:
        return await hangs()
    except asyncio.CancelledError:
        return await hangs()


async def cancels_itself_and_ends() -> str:
    """Cancel the task, which meets that only later."""
    _this_task().cancel()
    return "in time"


async def is_cancelled_by_others_too() -> str:
    """Be cancelled by somebody else while the deadline cancels it."""
    try:
        return await hangs()
    except asyncio.CancelledError:
        _this_task().cancel()
        raise


async def raises_a_cancellation() -> str:
    """Raise what nobody asked for."""
    raise asyncio.CancelledError


async def waits_in_a_group() -> str:
    """Wait for a child that hangs."""
    async with asyncio.TaskGroup() as group:
        group.create_task(hangs())  # type: ignore[arg-type]
    return "never"


async def has_a_child_that_fails() -> str:
    """Be cancelled by a group since a child failed."""
    async with asyncio.TaskGroup() as group:
        group.create_task(raises_timeout_of_its_own())  # type: ignore[arg-type]
        return await hangs()


async def in_a_group_cancelled_too(work: Work) -> str:
    """Work beside a task of a group that fails."""
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(raises_timeout_of_its_own())  # type: ignore[arg-type]
            return await work()
    except ExceptionGroup:
        return "the group failed"


async def under_a_timeout_that_ends_first(work: Work) -> str:
    """Work for less than the deadline gives."""
    try:
        async with asyncio.timeout(0):
            return await work()
    except TimeoutError:
        return "the outer time was up"


async def under_a_timeout_that_ends_later(work: Work) -> str:
    """Work for more than the deadline gives."""
    async with asyncio.timeout(60):
        return await work()


async def after_a_cancellation_that_was_swallowed(work: Work) -> str:
    """Work in a task that was cancelled before and took no notice."""
    await swallowed()
    return await work()


async def swallowed() -> None:
    """Be cancelled, and take no notice."""
    _this_task().cancel()
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        return


async def alone(work: Work) -> str:
    """Work with nothing around."""
    return await work()


async def _of_asyncio(function: Work) -> str:
    clock = asyncio.timeout(SECONDS)
    try:
        async with clock:
            return await function()
    except Exception:  # noqa: BLE001 - whatever it is
        return "timeout" if clock.expired() else "tool_failed"


async def _of_call(function: Work, context: ToolContext) -> str:
    try:
        result = await bind(tool(timeout_seconds=SECONDS)(function)).run({}, context)
    except Passing as error:
        return error.code
    assert isinstance(result, ToolResult)
    return str(result.data)


async def _what_comes(work: Coroutine[Any, Any, str]) -> tuple[str, int]:
    """What a task comes to, and how many cancellations of it nobody took back."""
    task = asyncio.create_task(work)
    await asyncio.wait([task], timeout=5)
    assert task.done()
    return "cancelled" if task.cancelled() else task.result(), task.cancelling()


@pytest.mark.parametrize(
    "around",
    [
        alone,
        in_a_group_cancelled_too,
        under_a_timeout_that_ends_first,
        under_a_timeout_that_ends_later,
        after_a_cancellation_that_was_swallowed,
    ],
)
@pytest.mark.parametrize(
    "function",
    [
        hangs,
        ends_in_time,
        raises_timeout_of_its_own,
        meets_timeout_of_its_own,
        hides_that_it_was_cancelled,
        swallows_the_cancellation,
        cancels_itself,
        cancels_itself_and_goes_on,
        cancels_itself_and_ends,
        is_cancelled_by_others_too,
        raises_a_cancellation,
        waits_in_a_group,
        has_a_child_that_fails,
    ],
)
async def test_call_comes_to_what_it_would_under_the_timeout_of_asyncio(
    function: Work,
    around: Callable[[Work], Coroutine[Any, Any, str]],
    context: ToolContext,
) -> None:
    expected = await _what_comes(around(lambda: _of_asyncio(function)))
    assert await _what_comes(around(lambda: _of_call(function, context))) == expected


async def test_deadline_that_was_stopped_cancels_nobody() -> None:
    deadline = Deadline(0)
    assert not deadline.stop()
    is_later = asyncio.Event()
    asyncio.get_running_loop().call_later(0, is_later.set)
    await asyncio.wait_for(is_later.wait(), 5)
    assert not deadline.is_over


def test_call_outside_of_a_task_is_refused() -> None:
    loop = asyncio.new_event_loop()
    refused: list[BaseException] = []

    def begin() -> None:
        try:
            Deadline(SECONDS)
        except RuntimeError as error:
            refused.append(error)
        loop.stop()

    loop.call_soon(begin)
    loop.run_forever()
    loop.close()
    assert len(refused) == 1
