"""The seam to being told of commits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Watch(Protocol):
    """A standing wish to be told when something was committed to a stream or queue. Use as an async context manager is not
    needed: call `stop`."""

    async def wait(self, timeout_seconds: float) -> bool:
        """Return True soon after a commit (by any process) that touched a topic since the last call, False after the timeout. May
        return True without cause."""
        ...

    def hear(self, heard: Callable[[], None]) -> None:
        """Instead of waiting: have `heard` called soon after each such commit, in the loop that runs now, until `stop`. May be called
        once for several commits, and without cause."""
        ...

    def stop(self) -> None:
        """End the wish. Safe to call twice."""
        ...
