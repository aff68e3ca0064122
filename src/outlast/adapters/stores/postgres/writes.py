"""Batches written by one statement: that of plain appends, that of releases, or the one for whatever else there is."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Final, TypeVar

from outlast.adapters.stores.postgres.encoding import BETWEEN, Batch, document_of
from outlast.adapters.stores.postgres.link import Link
from outlast.adapters.stores.postgres.queries import query
from outlast.adapters.stores.postgres.wishes import claims_for, columns_of
from outlast.ports.batch import Committed, Guard, Refused
from outlast.ports.stream import Append, EventRow

T = TypeVar("T")


def _append_few(added: int) -> str:
    """The statement for so many events."""
    values = (
        f"({n + 1}, ${4 * n + 6}::text, ${4 * n + 7}::bigint, ${4 * n + 8}::timestamptz, ${4 * n + 9}::text)"
        for n in range(added)
    )
    text = query("append_few_if_at")
    return text.replace("{added}", str(added)).replace("{values}", ", ".join(values))


_APPEND = query("append_events_if_at")
_FEW: Final = 4
_APPEND_FEW: Final = {added: _append_few(added) for added in range(1, _FEW + 1)}
_APPEND_GROUPS = query("append_groups_if_at")
_WHY_NOT_APPENDED = query("why_not_appended")
_RELEASE_GROUPS = query("release_groups_if_generation")
_COMMIT = query("commit_batches")
_COMMIT_THEN_CLAIM = query("commit_batches_then_claim")

_COMMITTED = Committed()


def write(link: Link, batches: Sequence[Batch]) -> Awaitable[list[Committed | Refused]]:
    """What became of each batch. Plain ones come with plain ones, no stream twice, releases with releases, no entry twice."""
    first = batches[0]
    if first.plain is not None:
        return (
            _append_one(link, first.plain, first.number) if len(batches) == 1 else _append_many(link, batches)
        )
    return _write_mixed(link, batches) if first.document else _write_releases(link, batches)


async def _write_mixed(link: Link, batches: Sequence[Batch]) -> list[Committed | Refused]:
    contents = [content for batch in batches for content in batch.contents]
    if any(batch.wishes for batch in batches):
        wishes = columns_of(batches)
        found = await link.rows(_COMMIT_THEN_CLAIM, *wishes, document_of(batches), contents)
    else:
        found = await link.rows(_COMMIT, document_of(batches), contents)
    refused = {
        place: Refused(Guard(guard), batches[place].place_of(index))
        for place, index, guard, *_ in found
        if place is not None
    }
    return _answers(batches, refused, [row[3:] for row in found if row[0] is None])


async def _append_one(link: Link, append: Append, number: int) -> list[Committed | Refused]:
    events, text = append.events, _APPEND
    given: list[object] = [append.stream, append.after, append.queue, append.generation, number]
    if append.after and len(events) <= _FEW:
        text = _APPEND_FEW[len(events)]
        for event in events:
            given += (event.kind, event.version, event.at, event.body)
    else:
        columns = zip(*[(event.kind, event.version, event.at, event.body) for event in events], strict=True)
        given += map(list, columns)
    return [_COMMITTED if await link.changes(text, *given) else await _why_refused(link, append)]


async def _append_many(link: Link, batches: Sequence[Batch]) -> list[Committed | Refused]:
    appends = [batch.plain for batch in batches if batch.plain is not None]
    events: list[EventRow] = []
    before: list[int] = []
    places: list[int] = []
    for place, append in enumerate(appends, 1):
        before.append((append.after or 0) - len(events))
        places += [place] * len(append.events)
        events += append.events
    found = await link.rows(
        _APPEND_GROUPS,
        BETWEEN.join([append.stream for append in appends]),
        _spelled([append.after or 0 for append in appends]),
        _spelled([len(append.events) for append in appends]),
        BETWEEN.join([append.queue for append in appends]),
        _spelled([append.generation or 0 for append in appends]),
        _spelled([batch.number for batch in batches]),
        _spelled(before),
        _spelled(places),
        BETWEEN.join([event.kind for event in events]),
        _spelled([event.version for event in events]),
        [event.at for event in events],
        BETWEEN.join([event.body for event in events]),
    )
    written = {row[0] for row in found}
    return [
        _COMMITTED if append.stream in written else await _why_refused(link, append) for append in appends
    ]


def _spelled(numbers: list[int]) -> str:
    """A list of numbers as the server spells it."""
    return f"{{{str(numbers)[1:-1]}}}"


async def _why_refused(link: Link, append: Append) -> Refused:
    asked = (append.stream, append.after, append.queue, append.generation)
    return Refused(Guard(await link.value(_WHY_NOT_APPENDED, *asked)), 0)


async def _write_releases(link: Link, batches: Sequence[Batch]) -> list[Committed | Refused]:
    leases = [
        (place, index, release)
        for place, batch in enumerate(batches)
        for index, release in enumerate(batch.releases)
    ]
    found = await link.rows(
        _RELEASE_GROUPS,
        *columns_of(batches),
        _said_once([place for place, _, _ in leases]),
        _said_once([release.queue for _, _, release in leases]),
        [release.item for _, _, release in leases],
        [release.generation for _, _, release in leases],
        _said_once([release.due_at for _, _, release in leases]),
        _said_once([release.note for _, _, release in leases]),
    )
    refused: dict[int, Refused] = {}
    for lost in sorted(row[0] for row in found if row[0] is not None):
        place, index, _ = leases[lost - 1]
        refused.setdefault(place, Refused(Guard.GENERATION, index))
    return _answers(batches, refused, [row[1:] for row in found if row[0] is None])


def _said_once(values: list[T]) -> list[T]:
    """The same list, or its first value where all are the same: lists are what the driver takes longest over."""
    return values[:1] if values and values.count(values[0]) == len(values) else values


def _answers(
    batches: Sequence[Batch], refused: Mapping[int, Refused], claimed: Sequence[Sequence[Any]]
) -> list[Committed | Refused]:
    if not claimed:
        return [refused.get(place, _COMMITTED) for place in range(len(batches))]
    claims = claims_for(batches, refused, claimed)
    return [refused.get(place) or Committed(claims[place]) for place in range(len(batches))]
