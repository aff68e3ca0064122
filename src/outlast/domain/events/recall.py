"""Events of recall: memory is asked, and what it brought back."""

from __future__ import annotations

from outlast.domain.dataclass import dataclass
from outlast.domain.events.event import Event
from outlast.domain.recalled import Recalled


@dataclass(frozen=True, slots=True)
class RecallRequested(Event):
    """Intent to ask memory, before the model of a branch speaks next."""

    recall: str
    branch: str
    query: str
    generation: int


@dataclass(frozen=True, slots=True)
class MemoryRecalled(Event):
    """What memory brought back, in the order it is shown to the model, inside a fence; `left_out` found no room."""

    recall: str
    branch: str
    query: str
    entries: tuple[Recalled, ...] = ()
    left_out: int = 0
    duration_ms: int = 0


@dataclass(frozen=True, slots=True)
class RecallFailed(Event):
    """Memory could not be asked, or not in time; the branch goes on without it."""

    recall: str
    branch: str
    code: str
    detail: str
    duration_ms: int = 0
