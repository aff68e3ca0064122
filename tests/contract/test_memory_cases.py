"""What went wrong in other memories, on every store that searches."""

import random
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from outlast.adapters.embedders.offline.ngrams import LetterNgrams
from outlast.adapters.stores.postgres import PostgresStore
from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.memory import Vector
from outlast.ports.memory import Entry, MemoryFilter, MemoryStore
from outlast.testing.contracts.memory import NOW, asked, note, pointing
from tests.law import law


@pytest.fixture(params=["sqlite", "postgres"])
def closed_store(request: pytest.FixtureRequest, tmp_path: Path) -> SqliteStore | PostgresStore:
    if request.param == "sqlite":
        return SqliteStore(tmp_path / "outlast.db")
    return PostgresStore(request.getfixturevalue("postgres_store_url"))


@pytest.fixture
async def memory(closed_store: SqliteStore | PostgresStore) -> AsyncIterator[MemoryStore]:
    await closed_store.open()
    yield closed_store.memory
    await closed_store.close()


async def found(memory: MemoryStore, query: str) -> list[str]:
    return [hit.memory.text for hit in await memory.search(asked(query))]


@law("MEM-3.f")
async def test_g10_01_two_characters_are_found_in_a_sentence_without_spaces(memory: MemoryStore) -> None:
    sentences = {
        "我们把部署窗口改到周四晚上": ("部署", "部署窗口", "周四"),
        "昨日は家族でしりとりをしました": ("しりとり", "家族"),
        "우리는 목요일에 배포를 시작했다": ("배포", "목요일"),
        "We moved the deployment window to Thursday evening": (
            "deployment",
            "deployments window",
            "thursday",
        ),
        "我们用 Redis 做缓存，不用Kafka": ("redis", "缓存", "kafka", "Kafka缓存"),
    }
    await memory.put([Entry(note(sentence)) for sentence in sentences])
    for sentence, queries in sentences.items():
        for query in queries:
            assert (await found(memory, query))[0] == sentence, query


async def test_g10_03_no_sign_is_an_operator_and_its_text_is_found(memory: MemoryStore) -> None:
    literals = (
        *(
            "C++",
            "pre-edit",
            "TODO: fix",
            "don't",
            "ubuntu 20.04",
            "AND",
            '"open',
            "NEAR(",
            "*",
            "100%",
            "a_b",
        ),
        *("x:y", "-z", "w^2", "(v", "{u}", "t|s", "r&q", "!p", "o\\n", "'", ";", "%", "_", "#m", "l<->k"),
    )
    await memory.put([Entry(note("Nothing of the kind is said here."))])
    await memory.put([Entry(note(f"It says {literal} in the log."), None) for literal in literals])
    for literal in literals:
        assert f"It says {literal} in the log." in (await found(memory, literal)), literal


async def test_g10_03_signs_never_stand_for_others(memory: MemoryStore) -> None:
    await memory.put([Entry(note("axb and 100 euro")), Entry(note("plain"))])
    assert await found(memory, "%") == []
    assert await found(memory, "_") == []
    assert await found(memory, "pl*") == []


@law("MEM-4.c", "MEM-4.d")
@pytest.mark.parametrize(("name", "dimensions"), [("larger", 768), ("of the same size", 256)])
async def test_g10_05_a_switch_of_embedders_mixes_nothing_and_stops_nothing(
    memory: MemoryStore, name: str, dimensions: int
) -> None:
    old = LetterNgrams()
    texts = [f"The cost of item {number} is {number * 7} euro." for number in range(100)]
    vectors = await old.embed(texts, "passage")
    await memory.put([Entry(note(text), vector) for text, vector in zip(texts, vectors, strict=True)])
    chance = random.Random(1)
    new = Vector.of(name, [chance.gauss(0, 1) for _ in range(dimensions)])
    hits = await memory.search(asked("cost of item 42", vector=new))
    assert hits[0].memory.text == texts[42]
    assert all(hit.vector is None for hit in hits)
    await memory.put([Entry(note("The cost of item 100 is secret."), new)])
    assert (await memory.stats("ada")).vectors == {"letter-ngrams-1/256": 100, new.space: 1}
    while stale := await memory.stale(new.space, 30):
        await memory.set_vectors(new.space, {each.memory_id: new for each in stale})
    hits = await memory.search(asked("cost of item 42", vector=new))
    assert hits[0].memory.text == texts[42]
    assert all(hit.vector == pytest.approx(1.0) for hit in hits)


@law("MEM-3.b")
async def test_g10_06_a_fact_repeated_in_ten_turns_is_one_and_its_correction_comes_first(
    memory: MemoryStore,
) -> None:
    embedder = LetterNgrams()

    async def remembered(text: str, turn: int) -> str:
        [vector] = await embedder.embed([text], "passage")
        at = NOW + timedelta(minutes=turn)
        memory_entry = note(text, position=turn, created_at=at, valid_from=at, source=f"turn {turn}"[:4])
        return (await memory.put([Entry(memory_entry, vector)]))[0]

    tea = {await remembered("The user likes tea.", turn) for turn in range(10)}
    assert len(tea) == 1
    coffee = await remembered("The user stopped drinking tea and likes coffee now.", 20)
    await memory.supersede("ada", list(tea), coffee, NOW + timedelta(minutes=20))
    [vector] = await embedder.embed(["Does the user like tea?"], "query")
    query = asked("Does the user like tea?", vector=vector, include_outdated=True)
    first, second = await memory.search(query)
    assert (first.memory.memory_id, first.is_outdated) == (coffee, False)
    assert (second.memory.memory_id, second.is_outdated) == (tea.pop(), True)
    assert second.memory.valid_to == NOW + timedelta(minutes=20)
    assert second.memory.source == "turn"


@pytest.fixture
def two_stores(request: pytest.FixtureRequest, tmp_path: Path) -> list[SqliteStore] | list[PostgresStore]:
    if request.param == "sqlite":
        return [SqliteStore(tmp_path / "outlast.db") for _ in range(2)]
    return [PostgresStore(request.getfixturevalue("postgres_store_url")) for _ in range(2)]


@pytest.mark.parametrize("two_stores", ["sqlite", "postgres"], indirect=True)
async def test_what_another_process_adds_changes_or_forgets_is_so_at_the_next_recall(
    two_stores: list[SqliteStore] | list[PostgresStore],
) -> None:
    for store in two_stores:
        await store.open()
    here, there = (store.memory for store in two_stores)

    async def near(memory: MemoryStore, degrees: float) -> list[str]:
        query = asked("zzz", vector=pointing(degrees), limit=1)
        return [hit.memory.text for hit in await memory.search(query)]

    ids = await here.put([Entry(note(f"at {angle}"), pointing(angle)) for angle in (0, 60, 120)])
    assert await near(here, 0) == await near(there, 0) == ["at 0"]
    await there.put([Entry(note("at 180"), pointing(180))])
    assert await near(here, 180) == ["at 180"]
    await there.set_vectors("flat/64", {ids[1]: pointing(240)})
    assert await near(here, 240) == ["at 60"]
    await there.forget("ada", MemoryFilter(memory_ids=(ids[0],)))
    assert await near(here, 0) != ["at 0"]
    await there.put([Entry(note("new at 0", position=2), pointing(0))])
    assert await near(here, 0) == ["new at 0"]
    [shelf] = here._shelves._shelves.values()  # type: ignore[attr-defined]
    assert len(set(shelf._numbers)) == 4
    for store in two_stores:
        await store.close()


async def test_what_is_forgotten_is_in_no_table(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "outlast.db")
    await store.open()
    await store.memory.put(
        [Entry(note("the canary sings"), pointing(0)), Entry(note("another"), pointing(9))]
    )
    assert await store.memory.forget("ada", MemoryFilter()) == 2
    await store.close()
    with closing(sqlite3.connect(tmp_path / "outlast.db")) as connection:
        tables = ("memory", "memory_words", "memory_vector", "memory_sketch")
        assert [connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables] == [
            0
        ] * 4
        assert connection.execute("SELECT entries, terms FROM memory_user").fetchall() == [(0, 0)]


async def test_vectors_that_are_lost_or_damaged_keep_nothing_from_being_found(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "outlast.db")
    await store.open()
    entries = [Entry(note(f"The harbour has berth {number}."), pointing(number)) for number in range(20)]
    await store.memory.put(entries)
    await store.close()
    with closing(sqlite3.connect(tmp_path / "outlast.db")) as connection:
        connection.execute("DELETE FROM memory_vector WHERE memory_no % 3 = 0")
        connection.execute("UPDATE memory_vector SET vector = x'00ff' WHERE memory_no % 3 = 1")
        connection.execute("UPDATE memory_sketch SET sketch = x'00' WHERE memory_no % 5 = 1")
        connection.commit()
    await store.open()
    for query in ("berth 7", "berth 8", "berth 9"):
        hits = await store.memory.search(asked(query, vector=pointing(3)))
        assert hits[0].memory.text == f"The harbour has {query}."
    assert await store.memory.search(asked("zzz", vector=pointing(2)))
    assert len(await store.memory.stale("flat/64", 100)) >= 6
    await store.close()
