"""Bytes as they come, for as long as they come: no wait is without a bound."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Final

LINGER_SECONDS: Final = 0.25
"""How long the end of a response is waited for after its last word: one read to its end leaves a connection to reuse."""


async def patient(
    source: AsyncIterator[bytes],
    *,
    idle_seconds: float,
    stall_seconds: float,
    whole_seconds: float,
    progress: Callable[[], int],
    is_done: Callable[[], bool],
) -> AsyncGenerator[bytes, None]:
    """The pieces of `source`.

    Raises TimeoutError when, after the first piece, nothing comes for `idle_seconds` (for LINGER_SECONDS once `is_done()`), or when
    `progress()`, a number that changes when what came was of use, stays the same for `stall_seconds`,
    or when there is no end after `whole_seconds`.
    """
    now = asyncio.get_running_loop().time
    stalls_at, idles_at, seen = now() + stall_seconds, math.inf, progress()
    ends_at = now() + whole_seconds
    while now() < min(stalls_at, ends_at):
        async with asyncio.timeout_at(min(stalls_at, idles_at, ends_at)):
            data = await anext(source, None)
        if data is None:
            return
        yield data
        idles_at = now() + (LINGER_SECONDS if is_done() else idle_seconds)
        if progress() != seen:
            stalls_at, seen = now() + stall_seconds, progress()
    raise TimeoutError
