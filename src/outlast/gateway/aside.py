"""Answers that take long to make are made aside, in threads with event loops of their own, so that no other request waits.

A store may be called from any event loop of its process. Python runs one thread at a time, so a few threads serve as well as many;
what is won is that the gateway's own loop gets its turn every few milliseconds, whatever is folded beside it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Coroutine
from typing import Any, Final, TypeVar

from fastapi.responses import JSONResponse

from outlast.gateway.exact import ExactJSONResponse
from outlast.wiring.loops import new_loop

T = TypeVar("T")

LANES: Final = 2
"""How many answers are made at a time; between two of its reads of the store an answer lets others go on."""


class Aside:
    """Some threads, begun with the first answer that needs them. Ask only from the gateway's loop; `stop` when it has ended."""

    def __init__(self, lanes: int = LANES) -> None:
        self._lanes = [_Lane(number) for number in range(1, lanes + 1)]

    async def do(self, work: Coroutine[Any, Any, T]) -> T:
        """What `work` returns or raises. It is cancelled when whoever waits for it is."""
        return await min(self._lanes, key=lambda lane: lane.busy).do(work)

    async def answer(self, document: Awaitable[Any]) -> JSONResponse:
        """The response that holds a document, written as JSON aside as well."""
        return await self.do(_response(document))

    def stop(self) -> None:
        """End the threads; what they are at is cancelled."""
        for lane in self._lanes:
            lane.stop()


class _Lane:
    """One thread. `busy` says how many answers are being made in it."""

    def __init__(self, number: int) -> None:
        self.busy = 0
        self._name = f"outlast-aside-{number}"
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stopped = asyncio.Event()

    async def do(self, work: Coroutine[Any, Any, T]) -> T:
        self.busy += 1
        try:
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._begun()))
        finally:
            self.busy -= 1

    def stop(self) -> None:
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._thread.join()
            self._loop = self._thread = None

    def _begun(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._stopped = asyncio.Event()
            self._loop = new_loop()
            self._thread = threading.Thread(
                target=self._work, args=(self._loop,), name=self._name, daemon=True
            )
            self._thread.start()
        return self._loop

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(self._stopped.wait())


async def _response(document: Awaitable[Any]) -> JSONResponse:
    return ExactJSONResponse(await document)
