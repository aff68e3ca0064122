"""The events of a run as server-sent events: the journal is the buffer, and its positions are the ids.

A stream reads the journal no faster than its client takes it, so a slow reader costs nothing but its place. Between two events it
holds a watch and no connection to the store. Pieces of answers that are being made come as frames without an id; what a client
missed of them stands in the event that follows.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from fastapi.sse import format_sse_event

from outlast.domain.dataclass import dataclass
from outlast.domain.errors import OutlastError
from outlast.gateway.aside import Aside
from outlast.gateway.exact import exact_json
from outlast.gateway.problems import Refusal
from outlast.gateway.snatches import Snatches
from outlast.ports.store import Store
from outlast.service.trace import Follower
from outlast.wiring.frames import LocalLive

HEARTBEAT_SECONDS: Final = 15.0
"""How often a stream on which nothing happens says that it is there."""

RECHECK_SECONDS: Final = 60.0
"""How long a stream may go on without another look at whether its reader still may."""

RETRY_MS: Final = 1000
"""How long a client is asked to wait before it connects again."""

_HEARTBEAT: Final = format_sse_event(comment="here")


class Streams:
    """Counts the open streams of each user, so that nobody takes all there are."""

    def __init__(self, most_per_user: int) -> None:
        self._most = most_per_user
        self._open: Counter[str] = Counter()

    def __len__(self) -> int:
        """How many streams are open."""
        return self._open.total()

    @contextmanager
    def seat(self, user_id: str) -> Iterator[None]:
        """A place for one more stream. Raises Refusal (`too_many_streams`) where a user has all that one may have."""
        if self._open[user_id] >= self._most:
            detail = f"{self._most} streams of yours are open, which is as many as one user may have."
            raise Refusal(
                "too_many_streams", detail, "Close some of them.", status=429, headers={"Retry-After": "5"}
            )
        self._open[user_id] += 1
        try:
            yield
        finally:
            self._open[user_id] -= 1
            if not self._open[user_id]:
                del self._open[user_id]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a stream is to tell: the events of a run after a position.

    `resync` says that the position is none of this run, so that the client must forget what it has and take all from the first.
    """

    run_id: str
    after: int
    resync: bool = False


async def wanted_events(store: Store, run_id: str, last_seen: str | None) -> Wanted:
    """What a client that has seen the event with the id `last_seen` is to be told."""
    if last_seen is None or last_seen == "":
        return Wanted(run_id, 0)
    known = await store.read_head(run_id)
    if (
        last_seen.isascii()
        and last_seen.isdigit()
        and len(last_seen) <= len(str(known))
        and int(last_seen) <= known
    ):
        return Wanted(run_id, int(last_seen))
    return Wanted(run_id, 0, resync=True)


class Stream:
    """One client that follows one run, from `frames` until the run has ended, the gateway closes, or the client may no longer."""

    def __init__(
        self,
        store: Store,
        live: LocalLive,
        wanted: Wanted,
        aside: Aside,
        closing: asyncio.Event,
        may_go_on: Callable[[], Awaitable[None]],
    ) -> None:
        self._wanted = wanted
        self._live = live
        self._follower = Follower(store, wanted.run_id)
        self._watch = store.watch([wanted.run_id])
        self._aside = aside
        self._closing = closing
        self._may_go_on = may_go_on
        self._stirred = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._time = loop.time
        self._recheck_at = loop.time() + RECHECK_SECONDS
        self._snatches = Snatches(loop, self._stirred.set)
        self._is_live = False

    async def frames(self) -> AsyncIterator[bytes]:
        """What the client is sent."""
        pumps = [asyncio.create_task(self._pump()), asyncio.create_task(self._until_closing())]
        try:
            yield format_sse_event(retry=RETRY_MS, comment=f"events of {self._wanted.run_id}")
            if self._wanted.resync:
                yield _named("resync", {"after": 0, "reason": "the position is none of this run"})
            async for frame in self._told():
                yield frame
        finally:
            self._live.leave(self._wanted.run_id, self._snatches.take)
            self._watch.stop()
            for pump in pumps:
                pump.cancel()

    async def _told(self) -> AsyncIterator[bytes]:
        """The frames after the greeting; a heartbeat whenever nothing was sent for a while."""
        sent_at = self._time()
        while not self._closing.is_set():
            frames, is_over = await self._news()
            for frame in frames:
                yield frame
            if is_over:
                return
            if frames:
                sent_at = self._time()
            elif not await self._is_stirred_before(sent_at + HEARTBEAT_SECONDS):
                sent_at = self._time()
                yield _HEARTBEAT
        yield _named("closing", {"next": "Connect again; the server is being stopped or replaced."})

    async def _news(self) -> tuple[list[bytes], bool]:
        """What there is to tell now, and whether it is the last."""
        self._stirred.clear()
        # What happened before is folded aside; of what happens now there is little at a time.
        has_more, events = await (self._events() if self._is_live else self._aside.do(self._events()))
        if events:
            # Pieces of an answer that was read were given before it was: they are let in, and come first.
            await asyncio.sleep(0)
        frames = [*(_named("delta", snatch) for snatch in self._snatches.taken()), *events]
        if has_more:
            return frames, False
        if self._follower.has_ended:
            return [*frames, _named("end", {"state": self._follower.state})], True
        if not self._is_live:
            self._is_live = True
            self._live.join(self._wanted.run_id, self._snatches.take)
        refused = await self._refused()
        return (frames, False) if refused is None else ([_named("refused", refused)], True)

    async def _events(self) -> tuple[bool, list[bytes]]:
        """Was there more in the journal, and the frames of that which the client does not have?"""
        lines = await self._follower.more()
        return bool(lines), [_event(line) for line in lines if line["seq"] > self._wanted.after]

    async def _is_stirred_before(self, deadline: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout_at(deadline):
                await self._stirred.wait()
                return True
        return False

    async def _refused(self) -> dict[str, str] | None:
        if self._time() < self._recheck_at:
            return None
        self._recheck_at = self._time() + RECHECK_SECONDS
        try:
            await self._may_go_on()
        except OutlastError as error:
            return {"code": error.code, "detail": error.detail, "next": error.next_step}
        return None

    async def _pump(self) -> None:
        """Stir when something was committed; another look now and then is only the safety net."""
        while True:
            await self._watch.wait(HEARTBEAT_SECONDS)
            self._stirred.set()

    async def _until_closing(self) -> None:
        await self._closing.wait()
        self._stirred.set()


def _event(line: dict[str, Any]) -> bytes:
    return format_sse_event(id=str(line["seq"]), event=line["kind"], data_str=exact_json(line))


def _named(name: str, data: Any) -> bytes:
    """A frame that is no event of the journal: it has no id, so it moves no client's position."""
    return format_sse_event(event=name, data_str=exact_json(data))
