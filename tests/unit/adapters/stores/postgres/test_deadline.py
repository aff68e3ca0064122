"""Answers that do not come in time are missed, each at its own time, though one timer looks after all of a connection."""

import asyncio

from outlast.adapters.stores.postgres.deadline import Deadline


async def missed(seconds: float) -> None:
    """Wait for what is never answered."""
    was_missed = asyncio.Event()
    Deadline(seconds, was_missed.set).begin()
    async with asyncio.timeout(20):
        await was_missed.wait()


async def test_an_answer_that_does_not_come_is_missed_when_its_time_is_up() -> None:
    begun_at = asyncio.get_running_loop().time()
    await missed(0.02)
    assert asyncio.get_running_loop().time() - begun_at >= 0.02


async def test_one_that_came_is_not_missed_nor_is_any_once_nothing_is_asked_again() -> None:
    misses: list[str] = []
    answered, stopped = (Deadline(0.01, lambda name=name: misses.append(name)) for name in ("one", "two"))
    answered.begin()
    answered.end()
    stopped.begin()
    stopped.stop()
    await missed(0.03)
    assert misses == []


async def test_what_is_asked_later_is_missed_later() -> None:
    loop, was_missed = asyncio.get_running_loop(), asyncio.Event()
    deadline = Deadline(0.04, was_missed.set)
    deadline.begin()
    deadline.end()
    await missed(0.02)
    asked_at = loop.time()
    deadline.begin()
    async with asyncio.timeout(20):
        await was_missed.wait()
    assert loop.time() - asked_at >= 0.04
