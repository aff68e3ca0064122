"""A server of background tasks for tests: what it says of each task is set, what it was asked is kept."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from outlast.ports.background_driver import (
    Acknowledged,
    Answer,
    BackgroundDriver,
    Forgotten,
    Handle,
    Product,
    RemoteStatus,
    Snapshot,
    Trouble,
)

WORKING = Snapshot(status=RemoteStatus.WORKING)
DONE = Snapshot(status=RemoteStatus.COMPLETED, product=Product("done"))


@dataclass
class Remote:
    """Both the driver of every server and the server. Tasks in `hanging` are never answered for; `raising` are surprises."""

    replies: dict[str, Snapshot | Forgotten | Trouble] = field(default_factory=dict)
    default: Snapshot | Forgotten | Trouble = WORKING
    hanging: set[str] = field(default_factory=set)
    raising: set[str] = field(default_factory=set)
    cancel_reply: Acknowledged | Forgotten | Trouble = field(default_factory=Acknowledged)
    slowness: int = 0
    can_cancel: bool = True
    can_answer: bool = True
    missing: Trouble | None = None
    polls: Counter[str] = field(default_factory=Counter)
    cancels: Counter[str] = field(default_factory=Counter)
    answers: dict[str, list[Mapping[str, Answer]]] = field(default_factory=lambda: defaultdict(list))
    most_at_once: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    _at_once: int = 0

    async def driver_for(self, driver: str, server: str) -> BackgroundDriver | Trouble:
        """See `BackgroundDrivers.driver_for`."""
        return self.missing or self

    async def poll(self, handle: Handle, deadline_seconds: float) -> Snapshot | Forgotten | Trouble:
        """See `BackgroundDriver.poll`."""
        self.polls[handle.remote_id] += 1
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        self.asked.set()
        try:
            if handle.remote_id in self.hanging:
                await asyncio.Event().wait()
            if handle.remote_id in self.raising:
                raise RuntimeError(f"cannot parse the answer for {handle.remote_id}")
            for _ in range(self.slowness):
                await asyncio.sleep(0)
            return self.replies.get(handle.remote_id, self.default)
        finally:
            self._at_once -= 1

    async def answer(
        self, handle: Handle, answers: Mapping[str, Answer], deadline_seconds: float
    ) -> Acknowledged | Forgotten | Trouble:
        """See `BackgroundDriver.answer`."""
        self.answers[handle.remote_id].append(answers)
        return Acknowledged()

    async def cancel(self, handle: Handle, deadline_seconds: float) -> Acknowledged | Forgotten | Trouble:
        """See `BackgroundDriver.cancel`."""
        self.cancels[handle.remote_id] += 1
        return self.cancel_reply
