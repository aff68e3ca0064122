"""The store a configuration names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from outlast.adapters.stores.sqlite.inspection import Inspection, inspect_file
from outlast.adapters.stores.sqlite.store import SqliteStore
from outlast.domain.errors import CallerMistake, NotFound
from outlast.ports.store import Store
from outlast.wiring.settings.tree import Settings


def store_of(settings: Settings, environ: Mapping[str, str]) -> Store:
    """The store, not yet open. Raises CallerMistake (`not_there_yet`) for a backend that this version does not have."""
    settings.require("harness")
    persistence = settings.harness.persistence
    if persistence.backend == "memory":
        return SqliteStore(None)
    if persistence.backend == "sqlite":
        return SqliteStore(database_path(settings, environ))
    raise CallerMistake(
        "not_there_yet",
        f"harness.persistence.backend is {persistence.backend}, which this version of outlast does not have yet.",
        "Use sqlite (the default) or memory.",
    )


def inspect_store(settings: Settings, environ: Mapping[str, str]) -> Inspection:
    """A closer look at the database, without changing it.

    Raises CallerMistake (`not_there_yet`, or `nothing_to_inspect` for a store in memory), NotFound (`nothing_here`), Broken.
    """
    if settings.harness.persistence.backend == "memory":
        raise CallerMistake(
            "nothing_to_inspect",
            "harness.persistence.backend is memory; there is no database.",
            "Use sqlite.",
        )
    store_of(settings, environ)
    path = database_path(settings, environ)
    if not path.exists():
        raise NotFound(
            "nothing_here", f"There is no database {path}: nothing was run here yet.", "Start a run."
        )
    return inspect_file(path)


def database_path(settings: Settings, environ: Mapping[str, str]) -> Path:
    """Where the SQLite database is: as configured, relative to the configuration."""
    return settings.path(settings.harness.persistence.path, environ)
