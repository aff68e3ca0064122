"""Pieces of answers on their way from a worker's thread to one client, joined while the client is slow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from outlast.ports.live import Frame

MOST_CHARACTERS: Final = 100_000
"""How much waits for a client; beyond it what waits is dropped, for the event that follows has the whole."""


class Snatches:
    """What came since the client last took some, a piece a conversation. `take` is called from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, stir: Callable[[], None]) -> None:
        self._loop = loop
        self._stir = stir
        self._waiting: dict[tuple[str, str], list[Frame]] = {}
        self._size = 0

    def take(self, frame: Frame) -> None:
        """Hear a frame. A loop that was closed meanwhile hears nothing more."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._keep, frame)

    def taken(self) -> list[dict[str, str | bool]]:
        """What waits, joined; nothing waits afterwards."""
        waiting, self._waiting, self._size = self._waiting, {}, 0
        return [_joined(frames) for frames in waiting.values()]

    def _keep(self, frame: Frame) -> None:
        self._size += len(frame.text) + len(frame.reasoning)
        if self._size > MOST_CHARACTERS:
            self._waiting.clear()
            self._size = 0
            return
        self._waiting.setdefault((frame.branch, frame.role), []).append(frame)
        self._stir()


def _joined(frames: list[Frame]) -> dict[str, str | bool]:
    return {
        "branch": frames[0].branch,
        "role": frames[0].role,
        "text": "".join(frame.text for frame in frames),
        "reasoning": "".join(frame.reasoning for frame in frames),
    }
