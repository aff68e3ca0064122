"""Who wants to hear of commits, and of what: the watches of one store in this process."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterable, Sequence

from outlast.ports.batch import Item
from outlast.ports.queue import Enqueue, Release
from outlast.ports.run_rows import DeleteRun
from outlast.ports.stream import Append

QUEUE_TOPIC = "queue:"
SIGNAL_TOPIC = "signals:"


def topics_of(item: Item) -> Sequence[str]:
    """What a watcher would have to name to hear of this item.

    A release that sets a due time is heard like an enqueue, unless it is quiet; the deletion of a run like an append.
    """
    if isinstance(item, Append) and item.events:
        return (item.stream,) if item.generation is not None else (item.stream, SIGNAL_TOPIC + item.stream)
    if isinstance(item, Enqueue | Release) and item.due_at is not None:
        is_quiet = isinstance(item, Release) and item.is_quiet
        return () if is_quiet else (QUEUE_TOPIC + item.queue,)
    if isinstance(item, DeleteRun):
        return (item.run_id,)
    return ()


class TopicWatch:
    """A watch on some topics. One task waits on it at a time, or one callback hears of it; it is touched from any thread."""

    def __init__(self, topics: Sequence[str], forget: Callable[[TopicWatch], None]) -> None:
        self.topics = frozenset(topics)
        self._forget = forget
        self._lock = threading.Lock()
        self._is_touched = False
        self._waiter: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None
        self._hearer: tuple[asyncio.AbstractEventLoop, Callable[[], None]] | None = None

    async def wait(self, timeout_seconds: float) -> bool:
        """See `Watch.wait`."""
        woken = asyncio.Event()
        loop = asyncio.get_running_loop()
        with self._lock:
            self._waiter = (loop, woken)
            is_touched = self._is_touched
        try:
            if not is_touched:
                async with asyncio.timeout(timeout_seconds):
                    await woken.wait()
        except TimeoutError:
            pass
        finally:
            with self._lock:
                self._waiter = None
        return self._take()

    def hear(self, heard: Callable[[], None]) -> None:
        """See `Watch.hear`."""
        with self._lock:
            self._hearer = (asyncio.get_running_loop(), heard)
            is_touched = self._is_touched
        if is_touched:
            self._call()

    def stop(self) -> None:
        """See `Watch.stop`."""
        self._forget(self)
        with self._lock:
            waiter, self._hearer = self._waiter, None
        if waiter is not None and waiter[0] is _running_loop():
            waiter[1].set()  # a loop that runs need not be woken, which takes two system calls
        else:
            self._call()

    def touch(self) -> None:
        """Remember a commit and wake whoever waits."""
        with self._lock:
            self._is_touched = True
        self._call()

    def _call(self) -> None:
        with self._lock:
            waiter, hearer = self._waiter, self._hearer
        if waiter is not None:
            _call_in(waiter[0], waiter[1].set)
        if hearer is not None:
            _call_in(hearer[0], self._tell)

    def _tell(self) -> None:
        """Tell who hears of it, once for what was committed since the last time."""
        hearer = self._hearer
        if self._take() and hearer is not None:
            hearer[1]()

    def _take(self) -> bool:
        with self._lock:
            is_touched, self._is_touched = self._is_touched, False
        return is_touched


def _call_in(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    with contextlib.suppress(RuntimeError):  # the loop has been closed
        loop.call_soon_threadsafe(callback)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    """The loop that runs in this thread, if one does."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class Watches:
    """All watches of a store. `nudge` is called when the first one comes."""

    def __init__(self, nudge: Callable[[], None]) -> None:
        self._nudge = nudge
        self._lock = threading.Lock()
        self._by_topic: dict[str, set[TopicWatch]] = {}

    def __bool__(self) -> bool:
        """Is anyone watching?"""
        return bool(self._by_topic)

    def topics(self) -> list[str]:
        """Everything that is watched."""
        with self._lock:
            return list(self._by_topic)

    def add(self, topics: Sequence[str]) -> TopicWatch:
        """A new watch."""
        watch = TopicWatch(topics, self._remove)
        with self._lock:
            is_first = not self._by_topic
            for topic in watch.topics:
                self._by_topic.setdefault(topic, set()).add(watch)
        if is_first:
            self._nudge()
        return watch

    def touch(self, topics: Iterable[str]) -> None:
        """Wake those who named one of the topics."""
        with self._lock:
            touched = {watch for topic in self._by_topic.keys() & topics for watch in self._by_topic[topic]}
        for watch in touched:
            watch.touch()

    def touch_all(self) -> None:
        """Wake everyone."""
        self.touch(self.topics())

    def _remove(self, watch: TopicWatch) -> None:
        with self._lock:
            for topic in watch.topics & self._by_topic.keys():
                self._by_topic[topic].discard(watch)
                if not self._by_topic[topic]:
                    del self._by_topic[topic]
