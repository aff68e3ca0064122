"""The store a configuration names."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from outlast.adapters.stores.sqlite.compaction import compact_file
from outlast.adapters.stores.sqlite.inspection import Inspection, inspect_file
from outlast.adapters.stores.sqlite.place import must_be_possible
from outlast.adapters.stores.sqlite.store import SqliteStore
from outlast.domain.dataclass import dataclass
from outlast.domain.errors import CallerMistake, NotFound
from outlast.ports.store import Store
from outlast.wiring.adapters import STORES, symbol
from outlast.wiring.settings.models import require_complete
from outlast.wiring.settings.tree import Persistence, Settings


@dataclass(frozen=True, slots=True)
class SchemaVersions:
    """The version of a schema when the store was opened, and since."""

    found: int
    now: int


def store_of(settings: Settings, environ: Mapping[str, str]) -> Store:
    """The store, not yet open.

    Raises CallerMistake: `missing_setting`, `missing_variable`, `store_url`, or `extra_missing` for a library that is not there.
    """
    settings.require("harness")
    persistence = settings.harness.persistence
    if persistence.backend == "memory":
        return SqliteStore(None)
    if persistence.backend == "sqlite":
        return SqliteStore(database_path(settings, environ))
    require_complete(persistence, "harness.persistence")
    return _ON_SERVERS[persistence.backend](settings, environ)


def warning_of(store: Store) -> str | None:
    """What an open store has to say against itself: that its server may lose what was committed, or does not tell of it."""
    return getattr(store, "warning", None)


def server_of(store: Store) -> str | None:
    """What an open store says of its server: kind, version and place, without credentials. None for a file."""
    return getattr(store, "server", None)


def schema_of(store: Store) -> SchemaVersions:
    """What schema an open store on a server was found with, and has now."""
    found: int
    found, now = store.schema  # type: ignore[attr-defined]
    return SchemaVersions(found, now)


def give_back(settings: Settings, environ: Mapping[str, str], limit_seconds: float | None) -> int | None:
    """Give the room that deletions left back to the system: see `compact_file`. A server does so by itself: 0."""
    if settings.harness.persistence.backend != "sqlite":
        return 0
    return compact_file(database_path(settings, environ), limit_seconds)


def inspect_store(settings: Settings, environ: Mapping[str, str]) -> Inspection:
    """A closer look at the database, without changing it.

    Raises CallerMistake (`nothing_to_inspect` for a store that is no file), Broken, and as `existing_database` does.
    """
    backend = settings.harness.persistence.backend
    store_of(settings, environ)
    if backend != "sqlite":
        raise CallerMistake(
            "nothing_to_inspect",
            f"harness.persistence.backend is {backend}; there is no database file.",
            "Use sqlite." if backend == "memory" else "Ask the server's own tools.",
        )
    return inspect_file(existing_database(settings, environ))


def address_of(settings: Settings, environ: Mapping[str, str]) -> str:
    """Where the store is, with its credentials: the URL of a server, or `sqlite:PATH`. Raises CallerMistake as `store_of` does, and
    `store_of_one_process` for memory."""
    store_of(settings, environ)
    persistence = settings.harness.persistence
    if persistence.backend == "memory":
        detail = "harness.persistence.backend is memory, which is nowhere outside of a process."
        raise CallerMistake("store_of_one_process", detail, "Use sqlite, the default.")
    if persistence.backend == "sqlite":
        return f"sqlite:{database_path(settings, environ)}"
    return _address(persistence, environ)


def database_path(settings: Settings, environ: Mapping[str, str]) -> Path:
    """Where the SQLite database is: as configured, relative to the configuration."""
    return settings.path(settings.harness.persistence.path, environ)


def existing_database(settings: Settings, environ: Mapping[str, str]) -> Path:
    """The SQLite database that is there.

    Raises NotFound (`nothing_here`) where there is none, CallerMistake (`store_path`) where there can be none.
    """
    path = database_path(settings, environ)
    must_be_possible(path)
    if not os.path.lexists(path):
        detail = f"There is no database {path}: nothing was run here yet."
        raise NotFound("nothing_here", detail, "Start a run, or name another configuration with --config.")
    return path


def _redis(settings: Settings, environ: Mapping[str, str]) -> Store:
    persistence = settings.harness.persistence
    beside = settings.home / ".outlast" / "memory.db"
    store: Store = _class_of("redis")(
        _address(persistence, environ),
        allow_loss=persistence.allow_loss,
        memory_file=beside if settings.memory.enabled or beside.exists() else None,
    )
    return store


def _postgres(settings: Settings, environ: Mapping[str, str]) -> Store:
    store: Store = _class_of("postgres")(_address(settings.harness.persistence, environ))
    return store


_ON_SERVERS: Final[dict[str, Callable[[Settings, Mapping[str, str]], Store]]] = {
    "postgres": _postgres,
    "redis": _redis,
}
"""How a store on a server is made, by backend."""


def _class_of(backend: str) -> Any:
    try:
        return symbol(STORES[backend])
    except ModuleNotFoundError as error:
        raise CallerMistake(
            "extra_missing",
            f"harness.persistence.backend is {backend}, which needs a library that is not installed ({error.name}).",
            f"Install it with: pip install 'outlast[{backend}]'",
        ) from error


def _address(persistence: Persistence, environ: Mapping[str, str]) -> str:
    assert persistence.url is not None
    return persistence.url.resolve(environ)
