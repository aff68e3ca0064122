"""The seam to what a store holds as a whole, for those who look after it: move it, archive it, check it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from outlast.domain.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Stray:
    """What nothing needs: streams that refer to payloads and have no events, and the payloads to which no other stream refers, by
    digest with their size in bytes."""

    streams: tuple[str, ...]
    payloads: Mapping[str, int]


class Inventory(Protocol):
    """What is there. Each answer takes as long as looking at everything it covers; errors are those of `Store`."""

    async def list_run_ids(self, ended_before: datetime | None = None) -> list[str]:
        """The ids of all runs, or of those that are not active and were last changed before a time, oldest first."""
        ...

    async def list_payloads(self, stream: str) -> dict[str, int]:
        """The payloads a stream refers to, by digest in order, with their size in bytes; -1 for one that is not there."""
        ...

    async def list_entries(self, queue: str) -> list[str]:
        """The items of a queue, due or not, in order."""
        ...

    async def find_stray(self) -> Stray:
        """What a SweepPayloads may delete."""
        ...
