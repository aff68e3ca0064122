"""What is said of settings that are read and have no effect yet."""

from __future__ import annotations

from typing import Final

from outlast.domain.door import Json
from outlast.wiring.settings.document import Document
from outlast.wiring.settings.models import WITHOUT_MEMORY

UNUSED_SECTIONS: Final[dict[str, str]] = {
    "sandbox": "no tool runs code yet",
    "shadow": "no variant is run beside the real thing yet",
    "shadow_mode": "no variant is run beside the real thing yet",
}
"""Sections whose feature is not there yet, and what that means for a run."""


def unused_parts(document: Document) -> list[str]:
    """One line for each part of the document that is read but not used yet."""
    given = document.value if isinstance(document.value, dict) else {}
    later = [
        f"{document.place((name,))}: {name} is read but not used yet: {effect}."
        for name, effect in UNUSED_SECTIONS.items()
        if given.get(name)
    ]
    return [*later, *_memory_without_a_place(document, given)]


def _memory_without_a_place(document: Document, given: dict[str, Json]) -> list[str]:
    """One line where memory is configured and the store keeps none."""
    harness = given.get("harness")
    persistence = harness.get("persistence") if isinstance(harness, dict) else None
    backend = persistence.get("backend") if isinstance(persistence, dict) else None
    if not given.get("memory") or backend not in WITHOUT_MEMORY:
        return []
    return [f"{document.place(('memory',))}: memory is not used: a store of the kind {backend} keeps none."]
