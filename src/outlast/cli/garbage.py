"""How Python collects garbage in a process that is ours alone: rarely, and never what was imported.

Folding and deciding make many short-lived values and next to no cycles. With Python's own settings a tenth of the CPU of a run goes
into collections that walk through every module and find nothing.
"""

from __future__ import annotations

import gc
from typing import Final

_VALUES_BETWEEN: Final = 20_000
"""How many more values than before there must be for a collection; a cycle of them lives that much longer."""


def collect_rarely() -> tuple[int, int, int]:
    """Leave everything that is there now out of collections, and make those rarer; returns what `collect_as_before` takes."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_VALUES_BETWEEN, *before[1:])
    return before


def collect_as_before(thresholds: tuple[int, int, int]) -> None:
    """Have everything collected as it was."""
    gc.set_threshold(*thresholds)
    gc.unfreeze()
