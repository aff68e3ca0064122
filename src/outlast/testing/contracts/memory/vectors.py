"""Vectors: their spaces, their switch, and what they add to words."""

from __future__ import annotations

import math

import pytest

from outlast.domain.memory import Vector
from outlast.ports.memory import Entry, MemoryFilter, MemoryStore
from outlast.testing.contracts.memory.samples import NOW, asked, note, pointing, texts


class Vectors:
    """Vectors: their spaces, their switch, and what they add to words."""

    async def test_the_nearest_by_meaning_come_first(self, memory: MemoryStore) -> None:
        await memory.put([Entry(note(f"at {angle}"), pointing(angle)) for angle in (0, 20, 50, 90, 180)])
        hits = await memory.search(asked("zzz", vector=pointing(0), limit=3))
        assert texts(hits) == ["at 0", "at 20", "at 50"]
        assert [hit.vector for hit in hits] == pytest.approx(
            [math.cos(math.radians(angle)) for angle in (0, 20, 50)], abs=1e-5
        )

    async def test_words_and_vectors_together_beat_either(self, memory: MemoryStore) -> None:
        await memory.put(
            [
                Entry(note("alpha only by word"), pointing(100)),
                Entry(note("alpha by both"), pointing(10)),
                Entry(note("only by vector"), pointing(8)),
            ]
        )
        hits = await memory.search(asked("alpha", vector=pointing(0)))
        assert texts(hits)[0] == "alpha by both"
        assert all(0.0 <= hit.score <= 1.0 and 0.0 <= hit.keyword <= 1.0 for hit in hits)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)

    async def test_a_switch_of_embedders_never_mixes_and_never_fails(self, memory: MemoryStore) -> None:
        await memory.put(
            [Entry(note(f"tea number {angle}"), pointing(angle, "old")) for angle in range(0, 90, 10)]
        )
        other = Vector.of("new", [1.0] * 128)
        for vector in (pointing(0, "new"), other):
            hits = await memory.search(asked("tea", vector=vector))
            assert len(hits) == 8
            assert all(hit.vector is None for hit in hits)
        await memory.put([Entry(note("tea of today"), other)])
        [*_, newest] = await memory.search(asked("today", vector=other))
        assert newest.vector == pytest.approx(1.0)
        assert (await memory.stats("ada")).vectors == {"old/64": 9, "new/128": 1}

    async def test_what_has_no_vector_yet_is_given_one(self, memory: MemoryStore) -> None:
        ids = await memory.put([Entry(note(f"tea {number}"), pointing(number, "old")) for number in range(5)])
        stale = await memory.stale("new/64", 3)
        assert [each.memory_id for each in stale] == ids[:1:-1]
        vectors: dict[str, Vector | None] = {each.memory_id: pointing(0, "new") for each in stale}
        assert await memory.set_vectors("new/64", {**vectors, "m-unknown": pointing(0, "new")}) == 3
        rest = await memory.stale("new/64", 10)
        assert len(rest) == 2
        await memory.set_vectors("new/64", {each.memory_id: None for each in rest})
        assert await memory.stale("new/64", 10) == []
        hits = await memory.search(asked("zzz", vector=pointing(0, "new")))
        assert len(hits) == 3
        assert len(await memory.search(asked("zzz", vector=pointing(0, "old")))) == 5

    async def test_a_vector_given_anew_takes_the_place_of_the_old(self, memory: MemoryStore) -> None:
        ids = await memory.put([Entry(note("a"), pointing(0)), Entry(note("b"), pointing(90))])
        assert texts(await memory.search(asked("zzz", vector=pointing(0), limit=1))) == ["a"]
        await memory.set_vectors("flat/64", {ids[0]: pointing(180)})
        hits = await memory.search(asked("zzz", vector=pointing(180), limit=5))
        assert texts(hits) == ["a", "b"]
        assert hits[0].vector == pytest.approx(1.0)

    async def test_archived_entries_need_no_vectors(self, memory: MemoryStore) -> None:
        ids = await memory.put([Entry(note("a")), Entry(note("b"))])
        await memory.archive("ada", MemoryFilter(memory_ids=(ids[0],)), NOW)
        assert [each.text for each in await memory.stale("flat/64", 10)] == ["b"]
