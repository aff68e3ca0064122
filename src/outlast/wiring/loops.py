"""The event loops of processes that are outlast's own: uvloop's, which take less of the CPU, where it is installed.

Who uses outlast as a library brings a loop of their own.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from contextvars import Context
from functools import cache
from typing import Any, Final, TypeVar, TypeVarTuple

from outlast.runs.meanwhile import while_waiting

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_STARTING: Final = threading.Lock()
"""Held while a loop starts a process."""

_ROUNDING_SECONDS: Final = 0.0015
"""By how much a timer of uvloop may be early: it rounds to the nearest millisecond, from a clock that is cut off to one."""


def new_loop() -> asyncio.AbstractEventLoop:
    """A new event loop, for `asyncio.Runner(loop_factory=new_loop)`; Python's own where uvloop cannot be imported."""
    return _maker()()


def loop_in_words() -> str:
    """Which loop `new_loop` makes, for a person."""
    return "asyncio's; uvloop is not installed" if _maker() is asyncio.new_event_loop else "uvloop's"


@cache
def _maker() -> Callable[[], asyncio.AbstractEventLoop]:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop

    class Loop(uvloop.Loop):
        """uvloop's, without what it does otherwise than asyncio to timers and to processes of several threads (decision 0167)."""

        def call_later(
            self, delay: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
        ) -> asyncio.TimerHandle:
            delay = delay + _ROUNDING_SECONDS if delay > 0 else delay
            return super().call_later(delay, callback, *args, context=context)

        async def subprocess_exec(self, *args: Any, **kwargs: Any) -> Any:
            return await _alone(super().subprocess_exec(*args, **kwargs))

        async def subprocess_shell(self, *args: Any, **kwargs: Any) -> Any:
            return await _alone(super().subprocess_shell(*args, **kwargs))

        async def connect_read_pipe(self, proto_factory: Any, pipe: Any) -> Any:
            return await super().connect_read_pipe(proto_factory, _Pipe(pipe))

        async def connect_write_pipe(self, proto_factory: Any, pipe: Any) -> Any:
            return await super().connect_write_pipe(proto_factory, _Pipe(pipe))

    return Loop


async def _alone(starting: Coroutine[Any, Any, T]) -> T:
    """Start a process while no other loop does: uvloop refuses the second one. It has started when first something is waited for."""
    with ExitStack() as held:
        held.enter_context(_STARTING)
        return await while_waiting(starting, held.close)


class _Pipe:
    """A pipe for uvloop, which closes both the descriptor and the file, whose number may be another's by then: it gets two."""

    def __init__(self, pipe: Any) -> None:
        self._pipe = pipe
        self._descriptor = os.dup(pipe.fileno())

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        self._pipe.close()
