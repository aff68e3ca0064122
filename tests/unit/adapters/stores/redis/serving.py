"""Servers and stores of a test, opened and closed."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from outlast.adapters.stores.redis import RedisStore
from outlast.adapters.stores.redis.address import Address
from outlast.adapters.stores.redis.wire import Wire
from outlast.testing.servers.redis import RedisServer, find_binary

NAMES = itertools.count()


@contextmanager
def served() -> Iterator[RedisServer]:
    """The newest server, durable."""
    with RedisServer(find_binary("valkey")) as server:
        yield server


@asynccontextmanager
async def opened(url: str, name: str = "", **options: Any) -> AsyncIterator[RedisStore]:
    """An open store, empty unless it is named."""
    store = RedisStore(url, name=name or f"unit-{next(NAMES)}", **options)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def ask(url: str, *command: bytes | str | int) -> Any:
    """The server's reply to one command of an operator; an error is a reply too."""
    wire, replies = Wire(Address.of(url), 5), list[Any]()
    wire.ask([command], replies)
    wire.close()
    return replies[0]
