"""The store a configuration names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from outlast.adapters.stores.sqlite.store import SqliteStore
from outlast.domain.errors import CallerMistake
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


def database_path(settings: Settings, environ: Mapping[str, str]) -> Path:
    """Where the SQLite database is: as configured, relative to the configuration."""
    return settings.path(settings.harness.persistence.path, environ)
