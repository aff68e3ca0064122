"""Work that was begun by hand goes on as if it had been awaited."""

import asyncio

import pytest

from outlast.domain.under_way import rest_of


async def test_it_goes_on_in_the_task_that_began_it_for_as_many_waits_as_it_needs() -> None:
    async def work() -> str:
        for _ in range(3):
            await asyncio.sleep(0)
        assert asyncio.current_task() is task
        return "answer"

    task, begun = asyncio.current_task(), work()
    assert await rest_of(begun, begun.send(None)) == "answer"


async def test_what_comes_of_a_wait_and_what_is_thrown_reach_the_work() -> None:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[str] = loop.create_future()

    async def work() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return await future
        return "never"

    async def begin() -> str:
        begun = work()
        return await rest_of(begun, begun.send(None))

    task = loop.create_task(begin())
    await asyncio.sleep(0)
    task.cancel()
    loop.call_soon(future.set_result, "stopped")
    assert await task == "stopped"


async def test_work_that_is_given_up_is_closed() -> None:
    is_closed = False

    async def work() -> None:
        nonlocal is_closed
        try:
            await asyncio.sleep(0)
        finally:
            is_closed = True

    begun = work()
    rest = rest_of(begun, begun.send(None))
    rest.send(None)  # type: ignore[attr-defined]
    rest.close()  # type: ignore[attr-defined]
    assert is_closed


async def test_what_the_work_raises_comes_out() -> None:
    async def work() -> None:
        await asyncio.sleep(0)
        raise LookupError("gone")

    begun = work()
    with pytest.raises(LookupError, match="gone"):
        await rest_of(begun, begun.send(None))
