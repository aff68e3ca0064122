"""What is said of settings that are read and have no effect yet."""

from __future__ import annotations

from typing import Final

from outlast.wiring.settings.document import Document
from outlast.wiring.settings.tree import Settings

UNUSED_SECTIONS: Final[dict[str, str]] = {
    "sandbox": "no tool runs code yet",
    "memory": "nothing is remembered between runs yet",
    "shadow": "no variant is run beside the real thing yet",
    "shadow_mode": "no variant is run beside the real thing yet",
    "background_tasks": "no background tasks are followed yet",
    "alerts": "nobody is alerted yet",
    "mcp_servers": "their tools cannot be called yet",
}
"""Sections whose feature is not there yet, and what that means for a run."""

UNUSED_BACKENDS: Final = frozenset({"postgres"})
"""Stores that can be configured and not opened yet."""


def unused_parts(document: Document, settings: Settings) -> list[str]:
    """One line for each part of the document that is read but not used yet."""
    given = document.value if isinstance(document.value, dict) else {}
    unused: dict[tuple[str, ...], str] = {
        (name,): effect for name, effect in UNUSED_SECTIONS.items() if given.get(name)
    }
    backend = settings.harness.persistence.backend
    if backend in UNUSED_BACKENDS:
        unused["harness", "persistence", "backend"] = f"outlast cannot open {backend} yet"
    return [
        f"{document.place(path)}: {'.'.join(path)} is read but not used yet: {effect}."
        for path, effect in unused.items()
    ]
