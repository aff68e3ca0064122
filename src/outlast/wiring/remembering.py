"""The long-term memory of a configuration: where it is kept, what embeds its texts, and its rules."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from outlast.domain.errors import CallerMistake
from outlast.ports.memory import MemoryStore
from outlast.ports.store import Store
from outlast.runs.remembering.long_term_memory import LongTermMemory, Rules
from outlast.wiring.embedders import embedder_of
from outlast.wiring.settings.parts import Memory
from outlast.wiring.settings.tree import Settings

__all__ = ["LongTermMemory", "memory_in", "memory_of", "rules_of", "without_memory"]


def memory_of(settings: Settings, store: Store, environ: Mapping[str, str]) -> LongTermMemory | None:
    """The memory in a store, ready to use once the store is open; None where it is turned off or the store keeps none.

    Raises CallerMistake for an embedder that is not configured whole.
    """
    kept = memory_in(store)
    if kept is None or not settings.memory.enabled:
        return None
    return LongTermMemory(kept, embedder_of(settings, environ), rules_of(settings.memory))


def memory_in(store: Store) -> MemoryStore | None:
    """Where a store keeps memory, whether or not it is turned on; None for one that keeps none."""
    kept: MemoryStore | None = getattr(store, "memory", None)
    return kept


def without_memory(settings: Settings) -> CallerMistake:
    """Why nothing is remembered under these settings."""
    if not settings.memory.enabled:
        return CallerMistake("no_memory", "memory.enabled is false.", "Turn it on to remember and recall.")
    return CallerMistake(
        "no_memory", "The store that was handed in keeps no long-term memory.", "Use another store."
    )


def rules_of(memory: Memory) -> Rules:
    """How long and for whom things are remembered."""
    return Rules(memory.scope, _days(memory.ttl_days), _days(memory.archive_after_days))


def _days(count: float | None) -> timedelta | None:
    return timedelta(days=count) if count is not None else None
