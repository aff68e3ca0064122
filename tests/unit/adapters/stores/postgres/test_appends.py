"""What a run does most of the time: a few events under its lease, by a statement that depends on how many they are."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from outlast.adapters.stores.postgres import PostgresStore
from outlast.ports.batch import Committed, Guard, Refused
from outlast.ports.stream import Append, EventRow
from outlast.testing.contracts.store.samples import AT, append, events, put, start, take
from tests.patience import PATIENCE_SECONDS

TEXTS = ["", "NULL", '"a" \\ {b,c}', "žluťoučký 🐎", " \n\t, ", "{}", "'", "\x1e", "a\x1fb", "\x1f", "\\x1f"]


@pytest.fixture
async def store(postgres_store_url: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(postgres_store_url)
    await store.open()
    yield store
    await store.close()


@pytest.mark.parametrize("count", range(1, 7))
@pytest.mark.parametrize("after", [0, 3])
async def test_events_are_stored_alike_however_many_come_at_once(
    store: PostgresStore, after: int, count: int
) -> None:
    await start(store)
    held = (await take(store)).generation
    if after:
        await put(store, append("r", 0, after, generation=held))
    refused = {
        Guard.POSITION: append("r", after + 1, count, generation=held),
        Guard.GENERATION: append("r", after, count, generation=held + 1),
    }
    for guard, wrong in refused.items():
        assert await store.commit([wrong]) == Refused(guard, 0)
    assert await store.commit([append("r", after, count, generation=held)]) == Committed()
    assert await store.commit([append("r", after, count, generation=held)]) == Refused(Guard.POSITION, 0)
    assert await store.read_events("r") == list(events(after + count))
    assert await store.read_head("r") == after + count


@pytest.mark.parametrize("after", [0, 2])
async def test_what_many_runs_append_at_once_is_stored_as_it_came(
    store: PostgresStore, postgres_url: str, postgres_schema: tuple[str, str], after: int
) -> None:
    """Whatever their texts, times and versions are, however many events each has, and whoever else is refused."""
    wanted: dict[str, Append] = {}
    for number, text in enumerate(TEXTS):
        stream = f"r{number}{text}"
        await start(store, stream)
        held = (await take(store, stream)).generation
        if after:
            await put(store, append(stream, 0, after, generation=held))
        rows = [
            EventRow(
                after + n + 1,
                f"K{text}{n}",
                n,
                AT + timedelta(hours=number, microseconds=n),
                f"{text}{n}"[:-1],
            )
            for n in range(number % 6 + 1)
        ]
        wanted[stream] = Append(stream, after, tuple(rows), held + (number == 3))
    assert store._home is not None
    before = store.counts().commits
    first = store.commit([append("elsewhere", 0)])
    answers = await asyncio.gather(first, *[store.commit([one]) for one in wanted.values()])
    assert answers.pop(4) == Refused(Guard.GENERATION, 0)
    assert answers == [Committed()] * len(TEXTS)
    assert store.counts().commits - before <= 5
    del wanted[f"r3{TEXTS[3]}"]
    for stream, one in wanted.items():
        assert await store.read_events(stream, after) == list(one.events)
        assert await store.read_head(stream) == after + len(one.events)
    other = await asyncpg.connect(postgres_url)
    marks = f"SELECT stream, count(DISTINCT batch) FROM {postgres_schema[1]}.events WHERE position > $1 GROUP BY stream"
    drawn = f"SELECT count(DISTINCT batch) FROM {postgres_schema[1]}.events WHERE position > $1 AND stream <> 'elsewhere'"
    assert dict(await other.fetch(marks, after)) | {"elsewhere": 1} == dict.fromkeys(
        [*wanted, "elsewhere"], 1
    )
    assert await other.fetchval(drawn, after) == len(wanted)
    await other.close()


async def test_a_stream_may_be_longer_than_32_bits_can_count(
    store: PostgresStore, postgres_url: str, postgres_schema: tuple[str, str]
) -> None:
    await start(store)
    held = (await take(store)).generation
    await put(store, append("r", 0, 1, generation=held))
    other = await asyncpg.connect(postgres_url)
    await other.execute(f"UPDATE {postgres_schema[1]}.streams SET head = $1 WHERE stream = 'r'", 1 << 40)
    await other.close()
    assert await store.commit([append("r", 1 << 40, 2, generation=held)]) == Committed()
    assert [row.position for row in await store.read_events("r", 1)] == [(1 << 40) + 1, (1 << 40) + 2]


@pytest.mark.parametrize("count", [2, 6])
async def test_an_append_waits_for_who_is_taking_the_lease_and_is_refused(
    store: PostgresStore, postgres_url: str, postgres_schema: tuple[str, str], count: int
) -> None:
    """What it saw when it began is not enough: the lease is another's once it is committed."""
    await start(store)
    claim = await take(store)
    await put(store, append("r", 0, 1, generation=claim.generation))
    other = await asyncpg.connect(postgres_url)
    async with asyncio.timeout(PATIENCE_SECONDS):
        async with other.transaction():
            await other.execute(
                f"UPDATE {postgres_schema[1]}.queue_entries SET generation = generation + 1 WHERE item = 'r'"
            )
            writing = asyncio.create_task(store.commit([append("r", 1, count, generation=claim.generation)]))
            while not await _is_anyone_blocked(store):
                assert not writing.done(), "it did not wait"
        answer = await writing
    await other.close()
    assert answer == Refused(Guard.GENERATION, 0)
    assert await store.read_head("r") == 1
    assert await store.commit([append("r", 1, count, generation=claim.generation + 1)]) == Committed()


async def _is_anyone_blocked(store: PostgresStore) -> bool:
    async def ask(link: Any) -> bool:
        return bool(await link.value("SELECT count(*) > 0 FROM pg_locks WHERE NOT granted"))

    return await store._do(ask)
