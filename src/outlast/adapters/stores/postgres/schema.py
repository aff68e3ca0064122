"""The tables, brought forward by numbered migrations; a row of the schema holds the number of the last one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from outlast.adapters.stores.postgres.link import Link
from outlast.adapters.stores.postgres.queries import in_schema
from outlast.domain.errors import Broken

# Asked of a catalog and not of to_regclass, which may still believe what it knew before a lock was waited for.
_HAS_VERSION = (
    "SELECT EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = '{schema}' AND tablename = 'schema_version')"
)
_VERSION = "SELECT version FROM {schema}.schema_version"
_TABLES = "SELECT count(*) FROM pg_tables WHERE schemaname = '{schema}'"
# Not IF NOT EXISTS, which asks for a right that a user with a schema of his own need not have.
_BEGIN = """
DO $$ BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = '{schema}') THEN
        CREATE SCHEMA {schema};
    END IF;
END $$;
CREATE TABLE {schema}.schema_version (version bigint NOT NULL);
INSERT INTO {schema}.schema_version VALUES (0);
"""


async def read_version(link: Link) -> int:
    """The number of the last migration; 0 where there are no tables of ours."""
    return int(await link.value(_VERSION)) if await link.value(_HAS_VERSION) else 0


async def migrate(link: Link, schema: str, steps: Mapping[int, str]) -> int:
    """Bring the schema to the newest of `steps`, all in one transaction; returns the version found before.

    Safe when several processes do it at once: one at a time holds an advisory lock until its transaction ends. Raises Broken with
    `store_newer` for a schema of a later program and `store_damaged` for one of another program.
    """
    newest = max(steps)
    found = await read_version(link)
    if found != newest:
        async with link.connection.transaction():
            await link.connection.execute("SELECT pg_advisory_xact_lock($1)", _lock_of(schema))
            await _forward(link.connection, schema, steps, newest)
    return found


async def _forward(connection: Any, schema: str, steps: Mapping[int, str], newest: int) -> None:
    def ours(text: str) -> str:
        return in_schema(text, schema)

    if not await connection.fetchval(ours(_HAS_VERSION)):
        if await connection.fetchval(ours(_TABLES)):
            raise Broken(
                "store_damaged",
                f"The schema {schema} holds tables of another program.",
                "Name another with schema=NAME in harness.persistence.url.",
            )
        await connection.execute(ours(_BEGIN))
    found = await connection.fetchval(ours(_VERSION))
    if found > newest:
        raise Broken(
            "store_newer",
            f"The store has schema version {found}, this program knows versions up to {newest}.",
            "Upgrade outlast to the version that wrote the store, or use another store.",
        )
    for number in range(found + 1, newest + 1):
        await connection.execute(ours(steps[number]))
    await connection.execute(ours("UPDATE {schema}.schema_version SET version = $1"), newest)


def _lock_of(schema: str) -> int:
    digest = hashlib.sha256(f"outlast {schema}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
