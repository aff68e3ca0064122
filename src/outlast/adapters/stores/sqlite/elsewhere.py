"""Commits of other processes, heard of by looking at the file."""

from __future__ import annotations

import sqlite3

from outlast.adapters.stores.sqlite.queries import query
from outlast.adapters.stores.sqlite.session import REMOVAL
from outlast.adapters.stores.watches import QUEUE_TOPIC, SIGNAL_TOPIC

_STREAMS_SINCE = query("streams_since")
_LAST_SEQ = query("last_seq")
_QUEUE_MARKS = query("read_queue_marks")


class Elsewhere:
    """What other processes have committed, seen from the writer's connection of this one."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._version = self._data_version()
        self._marks = self._read_marks()
        self._last_seq = self._read_last_seq()

    def look(self) -> set[str] | None:
        """The topics that others have touched since the last look; some of our own may be among them. None: it may be any, because
        events were deleted.

        Up to where it has looked is read first, and what there is to see last: what is committed in between is seen now or next time.
        """
        version = self._data_version()
        if version == self._version:
            return set()
        marks, last_seq = self._read_marks(), self._read_last_seq()
        found = self._connection.execute(_STREAMS_SINCE, {"seq": self._last_seq})
        streams = {stream for (stream,) in found}
        topics = streams | {SIGNAL_TOPIC + stream for stream in streams}
        self._version, self._last_seq = version, last_seq
        topics |= {QUEUE_TOPIC + queue for queue, mark in marks.items() if mark != self._marks.get(queue)}
        self._marks = marks
        return None if REMOVAL in topics else topics

    def skip_own(self, first_seq: int, last_seq: int) -> None:
        """Do not look at our own events from `first_seq` to `last_seq`, where those of nobody else can be before them."""
        if first_seq == self._last_seq + 1:
            self._last_seq = last_seq

    def _data_version(self) -> int:
        version: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
        return version

    def _read_last_seq(self) -> int:
        last_seq: int = self._connection.execute(_LAST_SEQ).fetchone()[0]
        return last_seq

    def _read_marks(self) -> dict[str, int]:
        return dict(self._connection.execute(_QUEUE_MARKS).fetchall())
