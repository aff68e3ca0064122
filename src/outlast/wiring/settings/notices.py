"""What is said of settings that are read and have no effect yet."""

from __future__ import annotations

from typing import Final

from outlast.wiring.settings.document import Document

UNUSED_SECTIONS: Final[dict[str, str]] = {
    "sandbox": "no tool runs code yet",
}
"""Sections whose feature is not there yet, and what that means for a run."""


def unused_parts(document: Document) -> list[str]:
    """One line for each part of the document that is read but not used yet."""
    given = document.value if isinstance(document.value, dict) else {}
    return [
        f"{document.place((name,))}: {name} is read but not used yet: {effect}."
        for name, effect in UNUSED_SECTIONS.items()
        if given.get(name)
    ]
