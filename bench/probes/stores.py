"""Stores to measure, by their address."""

from pathlib import Path

from outlast.adapters.stores.postgres import PostgresStore
from outlast.adapters.stores.redis import RedisStore
from outlast.adapters.stores.sqlite import SqliteStore
from outlast.ports.store import Store


async def opened(url: str, directory: Path | None) -> Store:
    """The store at an address, open; without an address one in a file of the directory, or in memory where there is none."""
    store: Store
    if url.startswith("postgresql:"):
        store = PostgresStore(url)
    elif url:
        store = RedisStore(url)
    else:
        store = SqliteStore(None if directory is None else directory / "bench.db")
    await store.open()
    return store
