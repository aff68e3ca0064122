"""Deletions between the statements of others: who comes second waits, and then sees what the first has done."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from outlast.adapters.stores.postgres import PostgresStore
from outlast.adapters.stores.postgres.encoding import _fields
from outlast.adapters.stores.postgres.queries import in_schema, migrations
from outlast.adapters.stores.postgres.schema import _BEGIN
from outlast.ports.batch import Item
from outlast.ports.run_rows import DeleteRun, InsertRun, RunFilter, UpdateRun
from outlast.ports.stream import CopyPayloads, PutPayload
from outlast.ports.thread_rows import DeleteThread, InsertThread
from outlast.testing.contracts.store.samples import AT, append, put, run, thread
from tests.law import law
from tests.patience import PATIENCE_SECONDS

CONTENT = b"content"
DIGEST = hashlib.sha256(CONTENT).hexdigest()

Pair = tuple["Session", "Session"]


class Session:
    """One connection, one transaction: items are written when it is asked to, and committed when it is told to."""

    def __init__(self, connection: Any, schema: str) -> None:
        self._connection = connection
        self._schema = schema
        self._transaction = connection.transaction()

    async def begin(self) -> None:
        await self._transaction.start()
        self.pid = await self._connection.fetchval("SELECT pg_backend_pid()")

    async def write(self, item: Item) -> str | None:
        """The guard that failed."""
        fields = json.dumps(_fields(item, iter([1])))
        sql = in_schema("SELECT {schema}.write_item($1::jsonb, 1, $2)", self._schema)
        guard: str | None = await self._connection.fetchval(sql, fields, CONTENT)
        return guard

    async def commit(self) -> None:
        await self._transaction.commit()

    async def close(self) -> None:
        await self._connection.close()


@pytest_asyncio.fixture
async def store(postgres_store_url: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(postgres_store_url)
    await store.open()
    await put(
        store,
        InsertThread(thread()),
        InsertRun(run("r")),
        append("r", 0),
        PutPayload("r", DIGEST, CONTENT),
        UpdateRun("r", "COMPLETED", False, "full", AT, "{}", 1),
    )
    yield store
    await store.close()


@pytest_asyncio.fixture
async def pair(
    store: PostgresStore, postgres_url: str, postgres_schema: tuple[str, str]
) -> AsyncIterator[Pair]:
    """Two transactions beside the store."""
    sessions = [Session(await asyncpg.connect(postgres_url), postgres_schema[1]) for _ in range(2)]
    for session in sessions:
        await session.begin()
    yield sessions[0], sessions[1]
    for session in sessions:
        await session.close()


async def second_after_first(store: PostgresStore, pair: Pair, first: Item, second: Item) -> str | None:
    """Write `first`, begin `second`, see it wait, commit `first`, and give what `second` came to."""
    one, two = pair
    assert await one.write(first) is None
    waiting = asyncio.create_task(two.write(second))
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await _is_blocked(store, two.pid):
            assert not waiting.done(), "it did not wait"
        await one.commit()
        guard = await waiting
        await two.commit()
    return guard


async def _is_blocked(store: PostgresStore, pid: int) -> bool:
    async def ask(link: Any) -> bool:
        return bool(await link.value("SELECT cardinality(pg_blocking_pids($1)) > 0", pid))

    return await store._do(ask)


async def test_a_deletion_sees_who_has_put_its_payload(store: PostgresStore, pair: Pair) -> None:
    putting = PutPayload("other", DIGEST, CONTENT)
    assert await second_after_first(store, pair, putting, DeleteRun("r", 1)) is None
    assert await store.list_payloads("other") == {DIGEST: len(CONTENT)}


async def test_who_puts_a_payload_that_goes_puts_it_again(store: PostgresStore, pair: Pair) -> None:
    putting = PutPayload("other", DIGEST, CONTENT)
    assert await second_after_first(store, pair, DeleteRun("r", 1), putting) is None
    assert await store.list_payloads("other") == {DIGEST: len(CONTENT)}


async def test_a_deletion_sees_who_has_copied_its_payloads(store: PostgresStore, pair: Pair) -> None:
    assert await second_after_first(store, pair, CopyPayloads("r", "fork"), DeleteRun("r", 1)) is None
    assert await store.list_payloads("fork") == {DIGEST: len(CONTENT)}


async def test_nothing_is_copied_from_a_run_that_goes(store: PostgresStore, pair: Pair) -> None:
    assert await second_after_first(store, pair, DeleteRun("r", 1), CopyPayloads("r", "fork")) == "missing"
    assert await store.list_payloads("fork") == {}


async def test_a_thread_that_goes_is_made_again(store: PostgresStore, pair: Pair) -> None:
    await put(store, InsertThread(thread("u")))
    assert await second_after_first(store, pair, DeleteThread("u"), InsertThread(thread("u"))) is None
    assert await store.read_thread("u") is not None


@pytest.mark.parametrize("is_active", [True, False])
async def test_a_thread_stays_whose_run_is_about_to_be_there(
    store: PostgresStore, pair: Pair, is_active: bool
) -> None:
    await put(store, InsertThread(thread("u")))
    begun = InsertRun(run("s", "u", is_active=is_active))
    assert await second_after_first(store, pair, begun, DeleteThread("u")) == "thread_busy"
    assert [row.run_id for row in await store.list_runs(RunFilter(thread_id="u"))] == ["s"]


@law("STORE-2.a")
@pytest.mark.parametrize("number", migrations())
async def test_every_released_version_is_brought_forward(postgres_url: str, number: int) -> None:
    schema = f"outlast_from_{number}"
    connection = await asyncpg.connect(postgres_url)
    await connection.execute(in_schema(_BEGIN, schema))
    try:
        for step in range(1, number + 1):
            await connection.execute(in_schema(migrations()[step], schema))
        await connection.execute(in_schema("UPDATE {schema}.schema_version SET version = $1", schema), number)
        store = PostgresStore(f"{postgres_url}{'&' if '?' in postgres_url else '?'}schema={schema}")
        await store.open()
        assert store.schema == (number, max(migrations()))
        await put(store, InsertThread(thread()), InsertRun(run("r", is_active=False)), DeleteRun("r", 0))
        await store.close()
    finally:
        await connection.execute(f"DROP SCHEMA {schema} CASCADE")
        await connection.close()
