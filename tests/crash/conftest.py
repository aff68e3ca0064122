"""Places for stores of tests that break their servers."""

from collections.abc import AsyncIterator

import pytest

from outlast.testing.servers.postgres import PostgresServer
from tests.crash.postgres_stores import SCHEMA, execute


@pytest.fixture
async def url(postgres_server: PostgresServer) -> AsyncIterator[str]:
    """The address of an empty schema on the session's own server."""
    yield f"{postgres_server.url}&schema={SCHEMA}"
    await execute(postgres_server.url, f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
