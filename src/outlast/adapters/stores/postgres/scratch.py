"""Empty stores on a server for the store contract, and their removal."""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import asyncpg

from outlast.adapters.stores.postgres.address import Address, read_address
from outlast.adapters.stores.postgres.store import PostgresStore

PREFIX: Final = "outlast_scratch_"
"""Begins the name of every schema made here."""

_SCHEMAS = "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, $1) ORDER BY nspname"


@contextmanager
def scratch_stores(url: str) -> Iterator[Callable[[], Callable[[], PostgresStore]]]:
    """Makes empty stores, each in a schema of its own; a call gives what makes handles on one. All are dropped at the end.

    The schema that `url` names is never touched. Enter and leave it outside of an event loop. Raises CallerMistake (`store_url`),
    and Broken for a server that does not serve or does not let this user make schemas.
    """
    address = read_address(url)
    prefix = f"{PREFIX}{secrets.token_hex(6)}_"
    numbers = itertools.count(1)

    def new_storage() -> Callable[[], PostgresStore]:
        named = _with_schema(url, f"{prefix}{next(numbers)}")
        return lambda: PostgresStore(named)

    try:
        asyncio.run(_open_and_close(new_storage()()))
        yield new_storage
    finally:
        asyncio.run(_drop(address, prefix))


def _with_schema(url: str, schema: str) -> str:
    parts = urlsplit(url)
    others = [(name, value) for name, value in parse_qsl(parts.query) if name != "schema"]
    return parts._replace(query=urlencode([*others, ("schema", schema)])).geturl()


async def _open_and_close(store: PostgresStore) -> None:
    try:
        await store.open()
    finally:
        await store.close()


async def _drop(address: Address, prefix: str) -> None:
    """One schema a transaction: a server has no room for the locks of all. Where there is none, nothing is there to drop."""
    try:
        connection = await asyncpg.connect(address.dsn, statement_cache_size=0)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return
    try:
        for (schema,) in await connection.fetch(_SCHEMAS, prefix):
            await connection.execute(f"DROP SCHEMA {schema} CASCADE")
    finally:
        await connection.close()
