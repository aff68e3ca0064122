"""Ctrl-C and SIGTERM while a run is worked on: first hand it back in good order, then stop at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeVar

T = TypeVar("T")

PATIENCE_SECONDS: Final = 5.0
"""How long calls in flight may go on after the first signal."""


class Interrupted(Exception):
    """A person or the system asked this process to stop."""


class Interrupts:
    """Hears signals. The first one calls `stop` and starts the clock, the second ends what is awaited at once."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop_gently = stop
        self._task: asyncio.Future[Any] | None = None
        self._is_gentle = False
        self.is_asked = False

    @contextmanager
    def heard(self) -> Iterator[Interrupts]:
        """Hear signals within this block; must be entered inside the running loop."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._on_signal)
        try:
            yield self
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    async def during(self, work: Awaitable[T], *, gently: bool = False) -> T:
        """The result of `work`. A signal ends it: at once, or `gently` after it had time to hand back. Raises Interrupted."""
        if self.is_asked:
            raise Interrupted
        task = asyncio.ensure_future(work)
        self._task, self._is_gentle = task, gently
        try:
            result = await task
        except asyncio.CancelledError:
            if self.is_asked:
                raise Interrupted from None
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            raise
        finally:
            self._task = None
        return result

    def _on_signal(self) -> None:
        if self.is_asked or not self._is_gentle:
            self.is_asked = True
            self._end()
            return
        self.is_asked = True
        self._stop_gently()
        asyncio.get_running_loop().call_later(PATIENCE_SECONDS, self._end)

    def _end(self) -> None:
        if self._task is not None:
            self._task.cancel()
