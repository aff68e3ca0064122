"""How much of the evidence is among the first hits, by plain BM25, by plain vectors, and by ours: prints one JSON object by set."""

import argparse
import asyncio
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime

import bm25s
import numpy as np

from bench.memory_sets import LabelledSet, all_sets
from outlast.adapters.embedders.offline.choice import offline_embedder
from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.memory import Memory, MemoryKind, Origin, Scope, Vector
from outlast.ports.memory import Entry, MemoryQuery

NOW = datetime(2026, 11, 30, tzinfo=UTC)
DEEPEST, SHALLOW = 10, 5
HAN = re.compile("[\u4e00-\u9fff]+")

Vectors = Sequence[Vector | None]


def by_bm25(labelled: LabelledSet) -> list[list[str]]:
    """The bm25s library with its own tokenizer and stop words; Chinese is cut into pairs for it, as its users have to."""
    ids = list(labelled.memories)
    index = bm25s.BM25()
    index.index(_tokens(list(labelled.memories.values())), show_progress=False)
    asked = _tokens([question for question, _ in labelled.questions])
    found, _ = index.retrieve(asked, corpus=np.array(ids), k=min(DEEPEST, len(ids)), show_progress=False)
    return [list(row) for row in found]


def by_vectors(labelled: LabelledSet, kept: Vectors, asked: Vectors) -> list[list[str]]:
    """The nearest by exact cosine, with numpy, of the vectors that ours has too."""
    ids = [memory_id for memory_id, vector in zip(labelled.memories, kept, strict=True) if vector is not None]
    rows = np.array([vector.values() for vector in kept if vector is not None])
    return [
        []
        if vector is None or not ids
        else [ids[place] for place in np.argsort(-(rows @ vector.values()))[:DEEPEST]]
        for vector in asked
    ]


async def by_ours(labelled: LabelledSet, kept: Vectors, asked: Vectors) -> list[list[str]]:
    """The memory of a store, as a run asks it."""
    store = SqliteStore(None)
    await store.open()
    entries = [
        Entry(
            Memory(
                kind=MemoryKind.NOTE,
                text=text,
                scope=Scope("ada"),
                created_at=NOW,
                valid_from=NOW,
                origin=Origin("t", "r", place),
                source=memory_id,
            ),
            vector,
        )
        for place, ((memory_id, text), vector) in enumerate(zip(labelled.memories.items(), kept, strict=True))
    ]
    await store.memory.put(entries)
    found = []
    for (question, _), vector in zip(labelled.questions, asked, strict=True):
        query = MemoryQuery(text=question, asker=Scope("ada", "t", "r"), at=NOW, vector=vector, limit=DEEPEST)
        found.append([hit.memory.source for hit in await store.memory.search(query)])
    await store.close()
    return found


def share_found(labelled: LabelledSet, found: Sequence[Sequence[str]], depth: int) -> float:
    """The mean part of the evidence that is among the first `depth`, in per cent."""
    parts = [
        len(evidence.intersection(hits[:depth])) / len(evidence)
        for (_, evidence), hits in zip(labelled.questions, found, strict=True)
    ]
    return 100 * sum(parts) / len(parts)


async def main() -> None:
    """Measure every set. Nothing is kept in the directory that a probe is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--directory")
    parser.parse_args()
    embedder = offline_embedder()
    told: dict[str, dict[str, list[float]]] = {}
    for labelled in all_sets():
        kept = await embedder.embed(list(labelled.memories.values()), "passage")
        asked = await embedder.embed([question for question, _ in labelled.questions], "query")
        ways = {
            "bm25": by_bm25(labelled),
            "vectors": by_vectors(labelled, kept, asked),
            "ours": await by_ours(labelled, kept, asked),
        }
        told[labelled.name] = {
            way: [share_found(labelled, found, depth) for depth in (SHALLOW, DEEPEST)]
            for way, found in ways.items()
        }
    await embedder.close()
    print(json.dumps(told))


def _tokens(texts: list[str]) -> list[list[str]]:
    spaced = [HAN.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", text) for text in texts]
    found = bm25s.tokenize(spaced, stopwords="en", return_ids=False, show_progress=False)
    return [list(row) for row in found]


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


if __name__ == "__main__":
    asyncio.run(main())
