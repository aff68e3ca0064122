"""How long a passing trouble is waited out."""

from __future__ import annotations

import asyncio
import random
import time
from typing import Final

from outlast.adapters.stores.postgres.troubles import in_our_words, may_pass

_FIRST_PAUSE_SECONDS: Final = 0.02
_LONGEST_PAUSE_SECONDS: Final = 1.0


class Patience:
    """Tries of one piece of work: pauses that double up to a second, for `seconds` in all.

    `where` names the store in errors.
    """

    def __init__(self, seconds: float, where: str) -> None:
        self._give_up_at = time.monotonic() + seconds
        self._pause_seconds = _FIRST_PAUSE_SECONDS
        self._where = where

    @property
    def is_used_up(self) -> bool:
        """Has the time run out?"""
        return time.monotonic() >= self._give_up_at

    async def wait_out(self, error: BaseException) -> None:
        """Pause before the next try. Raises the error in our words when it will not pass, or when the time has run out."""
        if not may_pass(error) or self.is_used_up:
            told = in_our_words(error, self._where)
            if told is error:
                raise error
            raise told from error
        await self.pause()

    async def pause(self) -> None:
        """Wait a little longer than the last time, and not as long as others do."""
        await asyncio.sleep(self._pause_seconds * random.uniform(0.5, 1.0))  # noqa: S311 - spreads tries, hides nothing
        self._pause_seconds = min(2 * self._pause_seconds, _LONGEST_PAUSE_SECONDS)
