"""Opening the store of a configuration for a command that looks or signals, and needs nothing else."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TypeVar

from outlast.domain.errors import CallerMistake
from outlast.ports.store import Store
from outlast.wiring.remembering import LongTermMemory, memory_of, without_memory
from outlast.wiring.settings.load import load
from outlast.wiring.settings.tree import Settings
from outlast.wiring.stores import existing_database, store_of

T = TypeVar("T")


def with_store(config: str | None, act: Callable[[Store], Awaitable[T]]) -> T:
    """What `act` gives for the store of a configuration.

    Raises CallerMistake for a configuration that cannot be read and for a store that ended with its process, NotFound
    (`nothing_here`) when nothing was run under it yet.
    """

    async def opened() -> T:
        async with existing_store(load(config)) as store:
            return await act(store)

    return asyncio.run(opened())


def making_store(config: str | None, act: Callable[[Store], Awaitable[T]]) -> T:
    """What `act` gives for the store of a configuration, which is made where there is none. Raises as `with_store` does."""

    async def opened() -> T:
        async with store_to_fill(load(config)) as store:
            return await act(store)

    return asyncio.run(opened())


def with_memory(config: str | None, act: Callable[[LongTermMemory, datetime], Awaitable[T]]) -> T:
    """What `act` gives for the memory of a configuration and the store's time.

    Raises what `with_store` raises, and CallerMistake (`no_memory`) where nothing is remembered.
    """
    settings = load(config)

    async def opened() -> T:
        async with existing_store(settings) as store:
            memory = memory_of(settings, store, os.environ)
            if memory is None:
                raise without_memory(settings)
            try:
                return await act(memory, await store.now())
            finally:
                await memory.close()

    return asyncio.run(opened())


@asynccontextmanager
async def existing_store(settings: Settings) -> AsyncIterator[Store]:
    """The store of these settings, open; raises as `with_store` does."""
    if settings.harness.persistence.backend == "sqlite":
        existing_database(settings, os.environ)
    async with store_to_fill(settings) as store:
        yield store


@asynccontextmanager
async def store_to_fill(settings: Settings) -> AsyncIterator[Store]:
    """The store of these settings, open, made where there is none. Raises CallerMistake for a store that ends with its process."""
    if settings.harness.persistence.backend == "memory":
        detail = "harness.persistence.backend is memory: its runs ended with the process that made them."
        raise CallerMistake(
            "store_of_one_process", detail, "Use sqlite, the default, to reach runs from outside."
        )
    store = store_of(settings, os.environ)
    await store.open()
    try:
        yield store
    finally:
        await store.close()
