"""The queue `memory`: an entry for each run that left something to be remembered, and one for the upkeep of memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.events import Recorded, StateEntered, SubtaskReviewed
from outlast.domain.run import RunState
from outlast.domain.states import ENDED, HELD
from outlast.ports.queue import Enqueue
from outlast.runs.remembering.extraction import Worth

MEMORY: Final = "memory"
UPKEEP: Final = "upkeep"
"""The entry of the upkeep; those of runs are named by their ids."""


def due_for_memory(state: RunState, worth: Worth, recorded: Sequence[Recorded]) -> list[Enqueue]:
    """The entry that rides in a commit after which there may be something to remember: a subtask is settled, the run rests."""
    if not state.definition.is_remembered:
        return []
    if not any(_is_occasion(one) for one in recorded) or not worth.is_there():
        return []
    return [Enqueue(MEMORY, state.run_id, recorded[-1].at, state.user_id, state.definition.name)]


def upkeep_due(at: datetime) -> Enqueue:
    """The entry of the upkeep."""
    return Enqueue(MEMORY, UPKEEP, at, "")


def _is_occasion(recorded: Recorded) -> bool:
    match recorded.event:
        case SubtaskReviewed(verdict="accept"):
            return True
        case StateEntered(target=target):
            return target in ENDED or target in HELD
        case _:
            return False


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is remembered, kept as the note of its entry: up to `position`, after so many `failures` in a row."""

    position: int = 0
    failures: int = 0
    trouble: str = ""

    @classmethod
    def read(cls, note: str) -> Progress:
        """The progress in a note; a note that is none says that nothing is remembered yet."""
        try:
            position, failures, trouble = json.loads(note)
            return cls(int(position), int(failures), str(trouble))
        except (ValueError, TypeError):
            return cls()

    def as_note(self) -> str:
        """The note."""
        return json.dumps([self.position, self.failures, self.trouble], ensure_ascii=False)
