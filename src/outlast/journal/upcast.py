"""Old versions of events, brought to the present version one step at a time.

A journal outlives the programs that wrote it: every version of every kind that was ever released stays readable. A
step takes the fields of one version and returns those of the next; golden journals in tests/golden prove each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from outlast.domain.door import Json
from outlast.domain.errors import Broken
from outlast.domain.events import KINDS

READER: Final = 3
"""The reader version of this program: it understands every event of runs whose min_reader is at most this.

It goes up with every kind of event, or version of one, that is added; `tests/unit/journal/test_readers.py` holds the two together.
A worker of an older reader does not claim runs that this one began or took up.
"""

Step = Callable[[dict[str, Json]], dict[str, Json]]

STEPS: Final[dict[tuple[str, int], Step]] = {}
"""From (kind, version) to the step that leads to version + 1."""


def is_present(kind: str, version: int) -> bool:
    """Is this the present version of a known kind? Raises Broken (`journal_newer`) when this program cannot know it."""
    known = KINDS.get(kind)
    if known is None or version > known.VERSION:
        raise Broken(
            "journal_newer",
            f"The journal holds {kind} version {version}, which this version of outlast does not know.",
            "Upgrade outlast on this machine.",
        )
    return bool(version == known.VERSION)


def upcast(kind: str, version: int, fields: dict[str, Json]) -> dict[str, Json]:
    """The fields of the present version of `kind`, from those of an older one. Raises Broken (`journal_damaged`, `journal_newer`)."""
    while not is_present(kind, version):
        step = STEPS.get((kind, version))
        if step is None:
            raise Broken(
                "journal_damaged",
                f"The journal holds {kind} version {version}, which there never was.",
                "Run `outlast db check`; restore the database from a backup if it is damaged.",
            )
        fields = step(fields)
        version += 1
    return fields
