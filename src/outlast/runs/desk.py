"""The desk at which calls of one run are performed: its means, its readings, its clock and its lease."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from outlast.domain.door import digest_of
from outlast.domain.errors import Broken
from outlast.domain.events import AnyEvent
from outlast.ports.store import Claim, Item, PutPayload, Store
from outlast.runs.cache import Cache
from outlast.runs.ledger import Ledger
from outlast.runs.means import Means


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a performed command came to: events to append, and items that ride in the same commit."""

    events: Sequence[AnyEvent]
    items: Sequence[Item] = ()


@dataclass(slots=True)
class Lease:
    """A claim seen by this process's monotonic clock. `until_seconds` moves on with every renewal; `is_lost` is final."""

    claim: Claim
    until_seconds: float
    is_lost: bool = False


@dataclass(slots=True)
class Desk:
    """One run at work in one process."""

    run_id: str
    user_id: str
    thread_id: str
    store: Store
    means: Means
    lease: Lease
    ledger: Ledger = field(default_factory=Ledger)
    cache: Cache = field(default_factory=Cache)
    _anchor_seconds: float = field(default_factory=time.monotonic)
    _texts: dict[str, str] = field(default_factory=dict)

    @property
    def generation(self) -> int:
        """The generation of this worker's claim."""
        return self.lease.claim.generation

    def seconds(self) -> float:
        """This process's monotonic clock."""
        return time.monotonic()

    def now(self) -> datetime:
        """The store's time, kept by the monotonic clock since the claim."""
        return self.lease.claim.store_now + timedelta(seconds=time.monotonic() - self._anchor_seconds)

    def is_mine(self) -> bool:
        """Does this worker surely still hold the lease?"""
        return not self.lease.is_lost and time.monotonic() < self.lease.until_seconds

    async def text(self, digest: str) -> str | None:
        """The stored text with this digest."""
        if digest not in self._texts:
            found = (await self.store.read_payloads([digest])).get(digest)
            if found is None:
                return None
            self._texts[digest] = found.decode("utf-8", "replace")
            while len(self._texts) > 32:
                del self._texts[next(iter(self._texts))]
        return self._texts[digest]

    def keep(self, text: str) -> tuple[str, Item]:
        """The digest of a text and the item that stores it with this run."""
        digest = digest_of(text)
        self._texts[digest] = text
        return digest, PutPayload(self.run_id, digest, text.encode("utf-8"))

    async def put(self, content: bytes, digest: str) -> None:
        """Store content with this run at once."""
        await self.store.commit([PutPayload(self.run_id, digest, content)])

    def must_be_mine(self) -> None:
        """Raise Broken (`lease_lost`) unless this worker surely still holds the lease; asked right before a `once` call."""
        if not self.is_mine():
            raise Broken(
                "lease_lost", f"The lease on {self.run_id} ran out before a call that must not run twice."
            )
