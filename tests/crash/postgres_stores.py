"""Stores of a test on the session's own PostgreSQL, opened and closed, and connections that something stands between."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from outlast.adapters.stores.postgres import PostgresStore
from outlast.testing.servers.postgres import PostgresServer
from tests.crash.postgres_wire import Cutter, Pooler, listening

SCHEMA = "faults"


@asynccontextmanager
async def opened(
    url: str, *, patience_seconds: float = 10.0, answer_seconds: float = 30.0
) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(url, patience_seconds=patience_seconds, answer_seconds=answer_seconds)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def cut(
    server: PostgresServer, *, answer_seconds: float = 30.0
) -> AsyncIterator[tuple[PostgresStore, Cutter]]:
    """A store whose connections a cutter relays, one for work at a time."""
    cutter = Cutter(server.folder)
    async with (
        listening(cutter.serve) as url,
        opened(f"{url}&schema={SCHEMA}&connections=1", answer_seconds=answer_seconds) as store,
    ):
        yield store, cutter


async def execute(url: str, sql: str, *arguments: object) -> list[asyncpg.Record]:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetch(sql, *arguments)  # type: ignore[no-any-return]
    finally:
        await connection.close()


@asynccontextmanager
async def listening_pooler(server: PostgresServer) -> AsyncIterator[tuple[str, Pooler]]:
    pooler = Pooler(server.folder)
    await pooler.start()
    async with listening(pooler.serve) as url:
        yield url, pooler
    await pooler.stop()
