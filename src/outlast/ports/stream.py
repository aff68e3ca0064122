"""Streams of events, with the folded state and the payloads that belong to them, as a store keeps them: opaque text."""

from __future__ import annotations

from datetime import datetime

from outlast.domain.dataclass import dataclass
from outlast.domain.quick import quick


@quick
@dataclass(frozen=True, slots=True)
class EventRow:
    """An event as text. `at` is aware UTC with microseconds, `version` the version of its kind, `body` one JSON object."""

    position: int
    kind: str
    version: int
    at: datetime
    body: str


@quick
@dataclass(frozen=True, slots=True)
class Append:
    """Add events to a stream.

    Guard `POSITION`: the stream ends at `after` (None: wherever it ends). The store numbers the events from there, whatever
    positions they carry. Guard `GENERATION`, when given: the queue entry (`queue`, stream) still has that generation and its lease
    was not given back. Without events only the guards are checked.
    """

    stream: str
    after: int | None
    events: tuple[EventRow, ...]
    generation: int | None = None
    queue: str = "runs"


@dataclass(frozen=True, slots=True)
class SnapshotRow:
    """A stored snapshot."""

    position: int
    fold_version: int
    body: str


@dataclass(frozen=True, slots=True)
class PutSnapshot:
    """Keep the newest folded state of a stream; an older snapshot than the stored one is ignored. No guard."""

    stream: str
    position: int
    fold_version: int
    body: str


@dataclass(frozen=True, slots=True)
class PutPayload:
    """Keep content once, under its sha256 in hexadecimal, with a reference from `stream`. No guard; putting it again is harmless."""

    stream: str
    digest: str
    content: bytes


@dataclass(frozen=True, slots=True)
class CopyPayloads:
    """Let stream `target` refer to every payload `source` refers to. Guard `MISSING`: the source has events (it was not deleted)."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class SweepPayloads:
    """Delete what those `streams` refer to without events, then those of these payloads and of `digests` that no stream needs."""

    streams: tuple[str, ...] = ()
    digests: tuple[str, ...] = ()
