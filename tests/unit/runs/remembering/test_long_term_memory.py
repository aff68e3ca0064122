"""Asking long-term memory: nobody is troubled where there is nothing to be found."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.errors import Passing
from outlast.domain.memory import Memory, MemoryKind, Origin, Scope, Vector
from outlast.ports.embedder import EmbeddingPurpose
from outlast.ports.memory import Entry, MemoryQuery
from outlast.runs.remembering import long_term_memory
from outlast.runs.remembering.long_term_memory import LongTermMemory
from tests.patience import PATIENCE_SECONDS
from tests.unit.runs.remembering.memories import Words

AT = datetime(2026, 1, 1, tzinfo=UTC)


class Listed(Words):
    """Notes what it was asked to embed."""

    asked: list[str]

    async def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose) -> list[Vector | None]:
        self.asked += texts
        return await super().embed(texts, purpose)


@pytest.fixture
async def store() -> AsyncIterator[SqliteStore]:
    store = SqliteStore(None)
    await store.open()
    yield store
    await store.close()


def listed() -> Listed:
    embedder = Listed()
    embedder.asked = []
    return embedder


def note(name: str, text: str, user_id: str = "ann") -> Memory:
    return Memory(
        memory_id=name,
        scope=Scope(user_id),
        kind=MemoryKind.NOTE,
        text=text,
        origin=Origin(),
        created_at=AT,
        valid_from=AT,
    )


def asking(text: str) -> MemoryQuery:
    return MemoryQuery(text=text, asker=Scope("ann", "t"), at=AT)


async def test_memory_is_not_searched_for_a_user_of_whom_nothing_is_remembered(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.memory.put([Entry(note("m-1", "blue whales", "bob"), None)])
    searched: list[Any] = []
    monkeypatch.setattr(store.memory, "search", searched.append)
    embedder = listed()
    assert await LongTermMemory(store.memory, embedder).search(asking("whales")) == []
    assert (searched, embedder.asked) == ([], [])


async def test_an_embedder_is_asked_only_where_something_has_a_vector(store: SqliteStore) -> None:
    await store.memory.put([Entry(note("m-1", "blue whales"))])
    embedder = listed()
    kept = LongTermMemory(store.memory, embedder)
    assert [hit.memory.memory_id for hit in await kept.search(asking("whales"))] == ["m-1"]
    assert embedder.asked == []
    [vector] = await kept.vectors(["grey seals"])
    await store.memory.put([Entry(note("m-2", "grey seals"), vector)])
    found = await kept.search(asking("grey"))
    assert [(hit.memory.memory_id, hit.vector is not None) for hit in found if hit.vector] == [("m-2", True)]
    assert embedder.asked == ["grey seals", "grey"]


async def test_it_tells_of_whom_nothing_is_remembered(store: SqliteStore) -> None:
    await store.memory.put([Entry(note("m-1", "blue whales", "bob"), None)])
    kept = LongTermMemory(store.memory, listed())
    assert await kept.is_without("ann")
    assert not await kept.is_without("bob")


async def test_it_does_not_tell_where_only_a_search_can(store: SqliteStore) -> None:
    assert not await LongTermMemory(store.memory).is_without("ann")


@pytest.mark.parametrize("is_slow", [True, False])
async def test_it_does_not_tell_while_the_store_cannot(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, is_slow: bool
) -> None:
    async def stats(user_id: str | None) -> Any:
        if is_slow:
            await asyncio.Event().wait()
        raise Passing("store_unavailable", "nobody answers")

    monkeypatch.setattr(store.memory, "stats", stats)
    monkeypatch.setattr(long_term_memory, "MOMENT_SECONDS", 0.01)
    assert not await LongTermMemory(store.memory, listed()).is_without("ann")


async def test_it_does_not_wait_for_a_store_that_swallows_cancellations(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, ended = asyncio.Event(), asyncio.Event()

    async def stats(user_id: str | None) -> Any:
        while not gate.is_set():
            with suppress(asyncio.CancelledError):
                await gate.wait()
        ended.set()

    monkeypatch.setattr(store.memory, "stats", stats)
    monkeypatch.setattr(long_term_memory, "MOMENT_SECONDS", 0.01)
    async with asyncio.timeout(PATIENCE_SECONDS):
        telling = asyncio.create_task(LongTermMemory(store.memory, listed()).is_without("ann"))
        await asyncio.wait({telling}, timeout=PATIENCE_SECONDS / 2)
        is_told = telling.done()
        gate.set()
        await ended.wait()
        assert not await telling
    assert is_told


async def test_words_alone_decide_without_an_embedder(store: SqliteStore) -> None:
    await store.memory.put([Entry(note("m-1", "blue whales"))])
    found = await LongTermMemory(store.memory).search(asking("whales"))
    assert [hit.memory.memory_id for hit in found] == ["m-1"]
