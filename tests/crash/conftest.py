"""Places for stores of tests that break their servers."""

import logging
from collections.abc import AsyncIterator, Iterator

import pytest

from outlast.testing.faults import Crash
from outlast.testing.servers.postgres import PostgresServer
from tests.crash.postgres_stores import SCHEMA, execute


@pytest.fixture
async def url(postgres_server: PostgresServer) -> AsyncIterator[str]:
    """The address of an empty schema on the session's own server."""
    yield f"{postgres_server.url}&schema={SCHEMA}"
    await execute(postgres_server.url, f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")


@pytest.fixture(autouse=True)
def the_dead_log_nothing() -> Iterator[None]:
    """What stands for the death of a process is an error like others within memory and beside a run; only here is it told of."""
    loggers = [logging.getLogger(name) for name in ("outlast.memory", "outlast.worker")]
    for logger in loggers:
        logger.addFilter(_is_of_the_living)
    yield
    for logger in loggers:
        logger.removeFilter(_is_of_the_living)


def _is_of_the_living(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    while error is not None and not isinstance(error, Crash):
        error = error.__cause__ or error.__context__
    return error is None
