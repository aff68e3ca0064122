"""Streams: in order, without gaps, at the position they were decided at; snapshots and payloads."""

from __future__ import annotations

import asyncio
import hashlib
from datetime import UTC, datetime, timedelta, timezone

import pytest

from outlast.ports.batch import Committed, Guard, Refused
from outlast.ports.store import Store
from outlast.ports.stream import Append, CopyPayloads, EventRow, PutPayload, PutSnapshot, SnapshotRow
from outlast.testing.contracts.store.samples import AT, append, bodies, events, put


@pytest.mark.asyncio
class JournalContract:
    """What is promised of events, snapshots and payloads."""

    async def test_events_come_back_as_they_were_in_order(self, store: Store) -> None:
        """Every field of every event."""
        first, second = events(2), events(3, after=2)
        await put(store, Append("r", 0, first))
        await put(store, Append("r", 2, second))
        assert await store.read_events("r") == [*first, *second]
        assert await store.read_head("r") == 5

    async def test_an_unknown_stream_is_empty(self, store: Store) -> None:
        """No error, no events, position 0."""
        assert await store.read_events("nobody") == []
        assert await store.read_head("nobody") == 0
        assert await store.read_snapshot("nobody") is None

    @pytest.mark.parametrize("after", [0, 1, 3, 4, 1_000_000])
    async def test_an_append_elsewhere_than_at_the_end_is_refused(self, store: Store, after: int) -> None:
        """Too early and too late alike, and nothing is written."""
        await put(store, append("r", 0, 2))
        assert await store.commit([append("r", after)]) == Refused(Guard.POSITION, 0)
        assert await store.read_events("r") == list(events(2))

    async def test_of_many_writers_at_one_position_one_wins(self, store: Store, other: Store) -> None:
        """The position guard holds against racers of two handles, round after round."""
        for position in range(10):
            racers = [(store if n % 2 else other, f'{{"racer":{n}}}') for n in range(8)]
            answers = await asyncio.gather(
                *[
                    handle.commit([Append("r", position, events(1, position, body))])
                    for handle, body in racers
                ]
            )
            winners = [
                body for answer, (_, body) in zip(answers, racers, strict=True) if answer == Committed()
            ]
            assert len(winners) == 1
            assert set(answers) == {Committed(), Refused(Guard.POSITION, 0)}
            assert bodies(await store.read_events("r", position)) == winners

    async def test_an_append_anywhere_is_numbered_from_the_end(self, store: Store) -> None:
        """`after` None: whatever positions the events carry."""
        await put(store, append("r", 0, 2))
        await put(store, Append("r", None, events(2, after=40)))
        assert [event.position for event in await store.read_events("r")] == [1, 2, 3, 4]

    async def test_concurrent_appends_anywhere_leave_no_gap(self, store: Store, other: Store) -> None:
        """All are accepted and numbered one by one."""
        batches = [[Append("r", None, events(2, body=f'{{"b":{n}}}'))] for n in range(20)]
        handles = [store, other] * 10
        answers = await asyncio.gather(
            *[handle.commit(batch) for handle, batch in zip(handles, batches, strict=True)]
        )
        found = await store.read_events("r")
        assert set(answers) == {Committed()}
        assert [event.position for event in found] == list(range(1, 41))
        assert bodies(found[::2]) == bodies(found[1::2])

    async def test_an_append_without_events_only_checks_its_guards(self, store: Store) -> None:
        """So that a batch can be bound to a position it adds nothing to."""
        await put(store, append("r", 0, 2))
        assert await store.commit([Append("r", 2, ())]) == Committed()
        assert await store.commit([Append("r", 1, ())]) == Refused(Guard.POSITION, 0)
        assert await store.read_head("r") == 2

    async def test_a_long_append_is_one_batch(self, store: Store) -> None:
        """1,201 events at once, or none of them."""
        assert await store.commit([append("r", 7, 1201)]) == Refused(Guard.POSITION, 0)
        assert await store.read_head("r") == 0
        await put(store, append("r", 0, 1201))
        assert await store.read_events("r") == list(events(1201))

    async def test_a_long_stream_is_read_in_pages(self, store: Store) -> None:
        """`after` and `limit` cut exactly."""
        await put(store, append("r", 0, 900))
        everything = list(events(900))
        assert await store.read_events("r", 300) == everything[300:]
        assert await store.read_events("r", 300, 100) == everything[300:400]
        assert await store.read_events("r", 890, 100) == everything[890:]
        assert await store.read_events("r", 900, 100) == []
        assert await store.read_events("r", 0, 0) == []

    async def test_streams_with_names_alike_are_apart(self, store: Store) -> None:
        """Names are compared as they are, case and all."""
        names = ["r", "R", "r:1", "r-1", "r_1", "r1", "runs"]
        for name in names:
            await put(store, Append(name, 0, events(1, body=f'{{"of":"{name}"}}')))
        for name in names:
            assert bodies(await store.read_events(name)) == [f'{{"of":"{name}"}}']

    async def test_times_come_back_to_the_microsecond_in_utc(self, store: Store) -> None:
        """Whatever zone they were given in."""
        east = timezone(timedelta(hours=5, minutes=45))
        times = [
            AT.astimezone(east),
            datetime(1970, 1, 1, tzinfo=UTC),
            datetime(2999, 12, 31, 23, 59, 59, 999999, UTC),
        ]
        rows = tuple(EventRow(n, "Noted", n, at, "{}") for n, at in enumerate(times, 1))
        await put(store, Append("r", 0, rows))
        found = await store.read_events("r")
        assert [event.at for event in found] == times
        assert {event.at.utcoffset() for event in found} == {timedelta(0)}

    async def test_only_the_newest_snapshot_is_kept(self, store: Store) -> None:
        """An older one is ignored, one of the same position replaces."""
        await put(store, PutSnapshot("r", 10, 1, "ten"))
        await put(store, PutSnapshot("r", 9, 2, "nine"))
        assert await store.read_snapshot("r") == SnapshotRow(10, 1, "ten")
        await put(store, PutSnapshot("r", 10, 2, "ten again"), PutSnapshot("other", 1, 1, "one"))
        assert await store.read_snapshot("r") == SnapshotRow(10, 2, "ten again")
        await put(store, PutSnapshot("r", 11, 2, "eleven"))
        assert await store.read_snapshot("r") == SnapshotRow(11, 2, "eleven")
        assert await store.read_snapshot("other") == SnapshotRow(1, 1, "one")

    async def test_payloads_are_found_by_digest(self, store: Store) -> None:
        """Bytes come back as they were; putting them again is harmless; a missing one is left out."""
        contents = [b"", b"\x00\xff\xfe", "\u00e9".encode(), b"x" * (2 << 20)]
        stored = {hashlib.sha256(content).hexdigest(): content for content in contents}
        for stream in ("r", "q", "r"):
            await put(store, *[PutPayload(stream, digest, content) for digest, content in stored.items()])
        assert await store.read_payloads([*stored, "0" * 64]) == stored
        assert await store.read_payloads([]) == {}

    async def test_many_payloads_are_read_at_once(self, store: Store) -> None:
        """1,500 digests in one call."""
        stored = {f"{n:064x}": str(n).encode() for n in range(1500)}
        await put(store, *[PutPayload("r", digest, content) for digest, content in stored.items()])
        assert await store.read_payloads(list(stored)) == stored

    async def test_payload_references_are_copied(self, store: Store) -> None:
        """Also twice, and from a stream that has events and no payloads; from one without events: MISSING."""
        await put(store, append("r", 0), append("bare", 0), PutPayload("r", "a" * 64, b"content"))
        await put(store, CopyPayloads("r", "fork"), CopyPayloads("r", "fork"), CopyPayloads("bare", "fork"))
        assert await store.commit([CopyPayloads("none", "fork")]) == Refused(Guard.MISSING, 0)
        assert await store.list_payloads("fork") == {"a" * 64: 7}
        assert await store.read_payloads(["a" * 64]) == {"a" * 64: b"content"}
