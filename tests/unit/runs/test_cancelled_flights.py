"""Calls in flight whose task is cancelled by none of those who may: something within, or a loop that ends."""

import asyncio
from contextlib import suppress

import pytest

from outlast.runs.contained import Escaped
from outlast.runs.desk import Outcome
from outlast.runs.flight import Flight, Leg, Owed
from tests.patience import PATIENCE_SECONDS

HOUR_SECONDS = 3600.0


async def test_a_cancellation_that_nobody_asked_for_is_told_as_one_and_not_taken_for_a_kill() -> None:
    """As a client of a provider lets out when something within it was cancelled: nobody else would tell of the call any more."""
    landings: list[object] = []
    ended = asyncio.Event()

    async def is_cancelled_within() -> Outcome:
        within = asyncio.ensure_future(asyncio.Event().wait())
        within.cancel()
        await within
        return Outcome([])

    flight = Flight(lambda came: (landings.append(came), ended.set())[0])
    flight.go_on(is_cancelled_within)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await ended.wait()
    assert [type(came) for came in landings] == [Escaped]


async def test_a_call_does_not_go_on_once_the_task_that_began_it_is_being_cancelled() -> None:
    """As when a loop that ends cancels every task: no further try begins, though the one that began it is still at something."""
    landings: list[object] = []
    flights: list[Flight] = []
    began, ended, may_end = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def waits() -> object:
        began.set()
        return await asyncio.Event().wait()

    async def never() -> Outcome:
        raise AssertionError("the call went on")

    async def tries() -> Outcome | Leg:
        with pytest.raises(Escaped):
            await flights[0].held(waits(), HOUR_SECONDS, never)
        return never

    async def begins() -> None:
        flights.append(Flight(lambda came: (landings.append(came), ended.set())[0]))
        flights[0].go_on(tries)
        try:
            await asyncio.Event().wait()
        finally:
            await may_end.wait()

    owner = asyncio.create_task(begins())
    async with asyncio.timeout(PATIENCE_SECONDS):
        await began.wait()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await ended.wait()
        may_end.set()
        await asyncio.wait({owner})
    assert [type(came) for came in landings] == [Escaped]


@pytest.mark.parametrize("ends", ["its call", "its loop"])
async def test_a_leg_that_is_owed_begins_though_its_call_is_killed_before(ends: str) -> None:
    """It is cancelled where it first waits, so that it can see to what it holds."""
    landings: list[object] = []
    told: list[str] = []
    flights: list[Flight] = []

    async def holds() -> Outcome:
        told.append("began")
        try:
            await asyncio.Event().wait()
        finally:
            told.append("was cancelled")
        return Outcome([])

    async def begins() -> Leg:
        if ends == "its loop":
            owner.cancel()
        else:
            asyncio.get_running_loop().call_soon(flights[0].kill)
        return Owed(holds)

    async def owns() -> None:
        flights.append(Flight(landings.append))
        flights[0].go_on(begins)
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        if not landings:
            await asyncio.wait({flights[0].kill()})

    owner = asyncio.create_task(owns())
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not landings:  # noqa: ASYNC110 - a call that was killed tells nobody else
            await asyncio.sleep(0)
    assert (told, landings) == (["began", "was cancelled"], [None])
    owner.cancel()
    await asyncio.wait({owner})
