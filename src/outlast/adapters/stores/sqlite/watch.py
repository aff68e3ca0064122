"""Who wants to hear of commits: of this process at once and precisely, of other processes by looking at the file."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence

from outlast.adapters.stores.sqlite.queries import query
from outlast.adapters.stores.sqlite.session import QUEUE_TOPIC, SIGNAL_TOPIC

_STREAMS_SINCE = query("streams_since")
_LAST_SEQ = query("last_seq")
_QUEUE_MARKS = query("read_queue_marks")


class TopicWatch:
    """A watch on some topics. One task waits on it at a time; it is touched from any thread."""

    def __init__(self, topics: Sequence[str], forget: Callable[[TopicWatch], None]) -> None:
        self.topics = frozenset(topics)
        self._forget = forget
        self._lock = threading.Lock()
        self._is_touched = False
        self._waiter: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None

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

    def stop(self) -> None:
        """See `Watch.stop`."""
        self._forget(self)
        self._call()

    def touch(self) -> None:
        """Remember a commit and wake whoever waits."""
        with self._lock:
            self._is_touched = True
        self._call()

    def _call(self) -> None:
        with self._lock:
            waiter = self._waiter
        if waiter is not None:
            loop, woken = waiter
            with contextlib.suppress(RuntimeError):  # the waiter's loop has been closed
                loop.call_soon_threadsafe(woken.set)

    def _take(self) -> bool:
        with self._lock:
            is_touched, self._is_touched = self._is_touched, False
        return is_touched


class Watches:
    """All watches of a store. `nudge` is called when the first one comes."""

    def __init__(self, nudge: Callable[[], None]) -> None:
        self._nudge = nudge
        self._lock = threading.Lock()
        self._by_topic: dict[str, set[TopicWatch]] = {}

    def __bool__(self) -> bool:
        """Is anyone watching?"""
        return bool(self._by_topic)

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
            touched = {watch for topic in topics for watch in self._by_topic.get(topic, ())}
        for watch in touched:
            watch.touch()

    def touch_all(self) -> None:
        """Wake everyone."""
        self.touch(list(self._by_topic))

    def _remove(self, watch: TopicWatch) -> None:
        with self._lock:
            for topic in watch.topics & self._by_topic.keys():
                self._by_topic[topic].discard(watch)
                if not self._by_topic[topic]:
                    del self._by_topic[topic]


class Elsewhere:
    """What other processes have committed, seen from the writer's connection of this one."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._version = self._data_version()
        self._last_seq: int = connection.execute(_LAST_SEQ).fetchone()[0]
        self._marks = self._read_marks()

    def look(self) -> set[str]:
        """The topics that others have touched since the last look; some of our own may be among them."""
        version = self._data_version()
        if version == self._version:
            return set()
        self._version = version
        found = self._connection.execute(_STREAMS_SINCE, {"seq": self._last_seq})
        streams = {stream for (stream,) in found}
        topics = streams | {SIGNAL_TOPIC + stream for stream in streams}
        self._last_seq = self._connection.execute(_LAST_SEQ).fetchone()[0]
        marks = self._read_marks()
        topics |= {QUEUE_TOPIC + queue for queue, mark in marks.items() if mark != self._marks.get(queue)}
        self._marks = marks
        return topics

    def skip_own(self, last_seq: int) -> None:
        """Do not look again at our own events up to `last_seq`, committed right after a look in the same transaction."""
        self._last_seq = max(self._last_seq, last_seq)

    def _data_version(self) -> int:
        version: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
        return version

    def _read_marks(self) -> dict[str, int]:
        return dict(self._connection.execute(_QUEUE_MARKS).fetchall())
