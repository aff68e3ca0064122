"""Batches written by one statement: that of plain appends, or the one for whatever else there is."""

from __future__ import annotations

from collections.abc import Sequence

from outlast.adapters.stores.postgres.encoding import Batch, document_of
from outlast.adapters.stores.postgres.link import Link
from outlast.adapters.stores.postgres.queries import query
from outlast.ports.store import Append, Committed, Guard, Refused

_APPEND = query("append_events_if_at")
_WHY_NOT_APPENDED = query("why_not_appended")
_COMMIT = query("commit_batches")

_COMMITTED = Committed()


async def write(link: Link, batches: Sequence[Batch]) -> list[Committed | Refused]:
    """What became of each batch. Plain ones come with plain ones, no stream twice, and others with others."""
    appends = [batch.plain for batch in batches if batch.plain is not None]
    if appends:
        return await _write_appends(link, appends, [batch.number for batch in batches])
    contents = [content for batch in batches for content in batch.contents]
    refused = {
        place: Refused(Guard(guard), index)
        for place, index, guard in await link.rows(_COMMIT, document_of(batches), contents)
    }
    return [refused.get(place, _COMMITTED) for place in range(len(batches))]


async def _write_appends(
    link: Link, appends: Sequence[Append], numbers: Sequence[int]
) -> list[Committed | Refused]:
    pairs = [
        (append, number, place, event)
        for append, number in zip(appends, numbers, strict=True)
        for place, event in enumerate(append.events, (append.after or 0) + 1)
    ]
    found = await link.rows(
        _APPEND,
        [append.stream for append in appends],
        [append.after for append in appends],
        [len(append.events) for append in appends],
        [append.queue for append in appends],
        [append.generation for append in appends],
        [append.stream for append, _, _, _ in pairs],
        [place for _, _, place, _ in pairs],
        [event.kind for _, _, _, event in pairs],
        [event.version for _, _, _, event in pairs],
        [event.at for _, _, _, event in pairs],
        [event.body for _, _, _, event in pairs],
        [number for _, number, _, _ in pairs],
    )
    written = {row[0] for row in found}
    return [
        _COMMITTED if append.stream in written else await _why_refused(link, append) for append in appends
    ]


async def _why_refused(link: Link, append: Append) -> Refused:
    asked = (append.stream, append.after, append.queue, append.generation)
    return Refused(Guard(await link.value(_WHY_NOT_APPENDED, *asked)), 0)
