"""The schema: brought forward once, by whoever comes first, or refused with the reason."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest

from outlast.adapters.stores.postgres import PostgresStore
from outlast.adapters.stores.postgres.address import read_address
from outlast.adapters.stores.postgres.link import Dialer, Link
from outlast.adapters.stores.postgres.queries import migrations
from outlast.adapters.stores.postgres.schema import migrate, read_version
from outlast.domain.errors import Broken
from outlast.testing.servers.postgres import PostgresServer
from tests.law import law

SCHEMA = "outlast_schema_test"
STEPS = {
    1: "CREATE TABLE {schema}.a (x int); -- one; of two\nCREATE TABLE {schema}.b (x int);",
    2: "CREATE FUNCTION {schema}.f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 2; END $$;",
    3: "ALTER TABLE {schema}.a ADD COLUMN y int;",
}


@pytest.fixture
async def url(postgres_url: str) -> AsyncIterator[str]:
    yield f"{postgres_url}{'&' if '?' in postgres_url else '?'}schema={SCHEMA}"
    await execute(postgres_url, f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")


async def execute(url: str, sql: str) -> list[asyncpg.Record]:
    connection = await asyncpg.connect(read_address(url).dsn)
    found: list[asyncpg.Record] = await connection.fetch(sql)
    await connection.close()
    return found


async def link_to(url: str) -> Link:
    return await Dialer(read_address(url), 30).dial()


@law("STORE-2.a")
@pytest.mark.parametrize("released", range(len(STEPS)))
async def test_every_released_version_is_brought_forward(url: str, released: int) -> None:
    link = await link_to(url)
    assert await read_version(link) == 0
    if released:
        await migrate(link, SCHEMA, {number: STEPS[number] for number in range(1, released + 1)})
        await link.rows("INSERT INTO {schema}.a (x) VALUES (1)")
    await migrate(link, SCHEMA, STEPS)
    await migrate(link, SCHEMA, STEPS)
    assert await read_version(link) == 3
    assert [tuple(row) for row in await link.rows("SELECT x, y FROM {schema}.a")] == (
        [(1, None)] if released else []
    )
    await link.close()


async def test_a_migration_that_fails_leaves_the_old_version(url: str) -> None:
    link = await link_to(url)
    await migrate(link, SCHEMA, {1: STEPS[1]})
    with pytest.raises(asyncpg.DuplicateTableError):
        await migrate(
            link,
            SCHEMA,
            {1: STEPS[1], 2: "CREATE TABLE {schema}.c (x int); CREATE TABLE {schema}.a (x int);"},
        )
    assert await read_version(link) == 1
    assert not await link.value("SELECT to_regclass('{schema}.c') IS NOT NULL")
    await link.close()


async def test_a_newer_store_is_refused_and_left_alone(url: str) -> None:
    store = PostgresStore(url)
    await store.open()
    await store.close()
    await execute(url, f"UPDATE {SCHEMA}.schema_version SET version = 999")
    with pytest.raises(
        Broken, match=f"schema version 999, this program knows versions up to {max(migrations())}"
    ) as refused:
        await store.open()
    assert refused.value.code == "store_newer"
    assert "Upgrade outlast" in refused.value.next_step


async def test_the_schema_of_another_program_is_refused_and_left_alone(url: str) -> None:
    await execute(url, f"CREATE SCHEMA {SCHEMA}")
    await execute(url, f"CREATE TABLE {SCHEMA}.theirs (x int)")
    with pytest.raises(Broken, match="another program") as refused:
        await PostgresStore(url).open()
    assert refused.value.code == "store_damaged"
    found = await execute(url, f"SELECT tablename FROM pg_tables WHERE schemaname = '{SCHEMA}'")
    assert [row[0] for row in found] == ["theirs"]


async def test_a_user_with_few_rights_needs_a_schema_of_his_own(postgres_server: PostgresServer) -> None:
    """As the error advises when he has none."""
    url = postgres_server.url.replace("outlast@", "outlast_app@")
    await execute(postgres_server.url, "CREATE ROLE outlast_app LOGIN")
    try:
        with pytest.raises(Broken) as refused:
            await PostgresStore(url).open()
        assert refused.value.code == "store_refused"
        assert "CREATE SCHEMA outlast AUTHORIZATION" in refused.value.next_step
        await execute(postgres_server.url, "CREATE SCHEMA outlast AUTHORIZATION outlast_app")
        store = PostgresStore(url)
        await store.open()
        await store.close()
    finally:
        await execute(postgres_server.url, "DROP SCHEMA IF EXISTS outlast CASCADE")
        await execute(postgres_server.url, "DROP ROLE outlast_app")


async def test_many_may_open_a_new_store_at_once(url: str) -> None:
    stores = [PostgresStore(url) for _ in range(8)]
    await asyncio.gather(*[store.open() for store in stores])
    assert [row[0] for row in await execute(url, f"SELECT version FROM {SCHEMA}.schema_version")] == [
        max(migrations())
    ]
    await asyncio.gather(*[store.close() for store in stores])


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ("synchronous_commit TO off", "store_may_lose"),
        ("default_transaction_read_only TO on", "store_unavailable"),
    ],
)
async def test_a_server_that_cannot_keep_what_it_is_given_is_refused(
    postgres_server: PostgresServer, setting: str, code: str
) -> None:
    url = postgres_server.url
    await execute(url, f"ALTER ROLE outlast SET {setting}")
    try:
        with pytest.raises(Broken) as refused:
            await PostgresStore(url).open()
        assert refused.value.code == code
        assert refused.value.next_step
    finally:
        writing = f"{url}&default_transaction_read_only=off"
        await execute(writing, f"ALTER ROLE outlast RESET {setting.split()[0]}")
