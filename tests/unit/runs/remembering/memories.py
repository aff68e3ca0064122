"""Memory on stage: a stage that remembers, an embedder of letters, and one that cannot serve."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from zlib import crc32

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.errors import Passing
from outlast.domain.memory import Memory, Vector
from outlast.ports.embedder import EmbeddingPurpose
from outlast.ports.memory import MemoryFilter
from outlast.runs.remembering.keeper import Keeper
from outlast.runs.remembering.long_term_memory import LongTermMemory, Rules
from tests.unit.runs.parts import Answering
from tests.unit.runs.stage import Stage, staged

USER = "local"


class Words:
    """Embeds the words of a text into a few dimensions; `name` tells one from another."""

    def __init__(self, name: str = "words", dimensions: int = 16) -> None:
        self.name, self.dimensions = name, dimensions

    async def space(self) -> str:
        return f"{self.name}/{self.dimensions}"

    async def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose) -> list[Vector | None]:
        return [self._of(text) for text in texts]

    async def close(self) -> None: ...

    def _of(self, text: str) -> Vector | None:
        values = [0.0] * self.dimensions
        for word in text.lower().split():
            values[crc32(f"{self.name} {word}".encode()) % self.dimensions] += 1.0
        return Vector.of(self.name, values) if any(values) else None


class Absent(Words):
    """An embedder that cannot serve."""

    async def embed(self, texts: Sequence[str], purpose: EmbeddingPurpose) -> list[Vector | None]:
        raise Passing("embedder_unavailable", "nobody answers")


class Mindful:
    """A stage whose runs are remembered, and what is remembered."""

    def __init__(self, stage: Stage, kept: LongTermMemory) -> None:
        self.stage, self.kept = stage, kept
        stage.memory = kept

    @property
    def memory(self) -> Any:
        return self.kept.store

    def keeper(self, store: Any = None) -> Keeper:
        return Keeper(store or self.stage.store, self.kept, holder="keeper", lease_seconds=30.0)

    async def play(self, words: str, **order: Any) -> str:
        """A run from its start until it is remembered."""
        run = await self.stage.play(words, **order)
        await self.keeper().clear()
        return run

    async def entries(self, **wanted: Any) -> list[Memory]:
        """What is remembered of the user, oldest first."""
        found: list[Memory] = await self.memory.list_memories(USER, MemoryFilter(**wanted))
        return found[::-1]

    async def texts(self, **wanted: Any) -> list[str]:
        return [one.text for one in await self.entries(**wanted)]


@asynccontextmanager
async def mindful(
    workspace: Path,
    answering: Answering,
    *tools: object,
    embedder: Words | None = None,
    rules: Rules = Rules(),  # noqa: B008 - frozen
    store: SqliteStore | None = None,
    **task: Any,
) -> AsyncIterator[Mindful]:
    """A stage that remembers, on a store in memory unless one is given."""
    store = store or SqliteStore(None)
    given = {"recall_top_k": 8, "is_remembered": True, **task}
    async with staged(workspace, answering, *tools, store=store, **given) as stage:
        yield Mindful(stage, LongTermMemory(store.memory, embedder, rules))
