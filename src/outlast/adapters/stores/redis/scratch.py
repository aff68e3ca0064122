"""Empty stores on a server for the store contract, and their removal."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import secrets
from collections.abc import Callable, Iterator
from typing import Final

from redis import Redis
from redis.exceptions import RedisError

from outlast.adapters.stores.redis.store import RedisStore

PREFIX: Final = "scratch-"
"""Begins the name of every store made here, so that its keys begin with `{outlast:scratch-`."""

_KEYS_AT_ONCE: Final = 1000


@contextlib.contextmanager
def scratch_stores(url: str, *, allow_loss: bool = False) -> Iterator[Callable[[], Callable[[], RedisStore]]]:
    """Makes empty stores, each under a name of its own; a call gives what makes handles on one. All keys are deleted at the end.

    No other key is touched. Enter and leave it outside of an event loop. Raises what opening a store raises.
    """
    prefix = f"{PREFIX}{secrets.token_hex(6)}-"
    numbers = itertools.count(1)

    def new_storage() -> Callable[[], RedisStore]:
        name = f"{prefix}{next(numbers)}"
        return lambda: RedisStore(url, name=name, allow_loss=allow_loss)

    try:
        asyncio.run(_open_and_close(new_storage()()))
        yield new_storage
    finally:
        with contextlib.suppress(
            RedisError, OSError, ValueError
        ):  # where there is no server there is nothing to delete
            _delete(url, f"{{outlast:{prefix}*")


async def _open_and_close(store: RedisStore) -> None:
    await store.open()
    await store.close()


def _delete(url: str, pattern: str) -> None:
    with Redis.from_url(url) as client:
        keys = client.scan_iter(match=pattern, count=_KEYS_AT_ONCE)
        while some := list(itertools.islice(keys, _KEYS_AT_ONCE)):
            client.delete(*some)
