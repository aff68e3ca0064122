"""Real servers for tests, one of a kind for the whole session, and a place of its own on them for each test."""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping

import asyncpg
import pytest
from hypothesis import HealthCheck, settings

from outlast.adapters.stores.postgres import PostgresStore
from outlast.testing.servers.postgres import PostgresServer
from outlast.wiring.loops import new_loop

# A run of the tests may fail for what was changed, not for its luck or for what else the machine does. Luck has `just explore`.
_UNHURRIED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("repeatable", derandomize=True, **_UNHURRIED)
settings.register_profile("explore", max_examples=500, **_UNHURRIED)
settings.load_profile("repeatable")

_EMPTY = """
DO $$
DECLARE name text;
BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = '{schema}' AND tablename <> 'schema_version' LOOP
        EXECUTE format('DELETE FROM {schema}.%I', name);
    END LOOP;
END $$
"""


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """What a test is run on: Python's own event loop, and with the mark `both_loops` that of outlast's own processes too."""
    own: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {"asyncio": asyncio.new_event_loop}
    return own | {"uvloop": new_loop} if item.get_closest_marker("both_loops") else own


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A server of the session, which may be stopped and must be started again."""
    with PostgresServer() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_url(request: pytest.FixtureRequest) -> str:
    """Where a PostgreSQL server is: the one that OUTLAST_TEST_POSTGRES_URL names, or that of the session."""
    given = os.environ.get("OUTLAST_TEST_POSTGRES_URL")
    url: str = given or request.getfixturevalue("postgres_server").url
    return url


@pytest.fixture(scope="session")
def postgres_schema(postgres_url: str) -> Iterator[tuple[str, str]]:
    """The address of a store for the session, and its schema."""
    schema = f"outlast_test_{os.getpid()}"
    url = f"{postgres_url}{'&' if '?' in postgres_url else '?'}schema={schema}"
    asyncio.run(_make(url))
    yield url, schema
    asyncio.run(_execute(postgres_url, f"DROP SCHEMA {schema} CASCADE"))


@pytest.fixture
def postgres_store_url(postgres_url: str, postgres_schema: tuple[str, str]) -> Iterator[str]:
    """The address of a store that is empty when the test begins."""
    url, schema = postgres_schema
    yield url
    asyncio.run(_execute(postgres_url, _EMPTY.replace("{schema}", schema)))


async def _make(url: str) -> None:
    store = PostgresStore(url)
    await store.open()
    await store.close()


async def _execute(url: str, sql: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(sql)
    await connection.close()
