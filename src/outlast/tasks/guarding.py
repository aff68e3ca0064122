"""Drivers as the loops call them: none takes longer than its deadline, and none raises.

A driver promises both; one that breaks its promise must not take other tasks with it.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Mapping
from typing import Final, TypeVar

from outlast.ports.background_driver import (
    Acknowledged,
    Answer,
    BackgroundDriver,
    BackgroundDrivers,
    Forgotten,
    Handle,
    Snapshot,
    Trouble,
)

T = TypeVar("T")

SPARE_SECONDS: Final = 1.0
"""How much longer than its deadline a driver may take before it is cut off."""

_log = logging.getLogger("outlast.tasks")


class GuardedDrivers:
    """Other drivers, guarded; finding one must not take longer than `find_seconds`."""

    def __init__(self, drivers: BackgroundDrivers, find_seconds: float = 30.0) -> None:
        self._drivers = drivers
        self._find_seconds = find_seconds

    async def driver_for(self, driver: str, server: str) -> BackgroundDriver | Trouble:
        """See `BackgroundDrivers.driver_for`."""
        found = await _guarded(self._drivers.driver_for(driver, server), self._find_seconds, server)
        return found if isinstance(found, Trouble) else _Guarded(found)


class _Guarded:
    def __init__(self, driver: BackgroundDriver) -> None:
        self._driver = driver
        self.can_cancel = driver.can_cancel
        self.can_answer = driver.can_answer

    async def poll(self, handle: Handle, deadline_seconds: float) -> Snapshot | Forgotten | Trouble:
        """See `BackgroundDriver.poll`."""
        return await _guarded(self._driver.poll(handle, deadline_seconds), deadline_seconds, handle.server)

    async def answer(
        self, handle: Handle, answers: Mapping[str, Answer], deadline_seconds: float
    ) -> Acknowledged | Forgotten | Trouble:
        """See `BackgroundDriver.answer`."""
        call = self._driver.answer(handle, answers, deadline_seconds)
        return await _guarded(call, deadline_seconds, handle.server)

    async def cancel(self, handle: Handle, deadline_seconds: float) -> Acknowledged | Forgotten | Trouble:
        """See `BackgroundDriver.cancel`."""
        return await _guarded(self._driver.cancel(handle, deadline_seconds), deadline_seconds, handle.server)


async def _guarded(call: Awaitable[T], deadline_seconds: float, server: str) -> T | Trouble:
    try:
        async with asyncio.timeout(deadline_seconds + SPARE_SECONDS):
            return await call
    except TimeoutError:
        return Trouble(
            "no_answer",
            f"The server {server} did not answer within {deadline_seconds:g} s.",
            "See whether it is overloaded.",
        )
    except Exception as error:  # noqa: BLE001 - a surprise in one driver must not take other tasks with it
        _log.error("the driver for the server %s failed: %s", server, told(error))
        return Trouble(
            "driver_failed",
            f"The driver for the server {server} failed with {type(error).__name__}.",
            "Report this with the log of the worker.",
        )


def told(error: BaseException) -> str:
    """A surprise for the log: its type and where it came from. Its message may hold secrets of the other side."""
    return f"{type(error).__name__}\n{''.join(traceback.format_tb(error.__traceback__))}"
