"""Which events a reading of a journal hears, and what it does at each: looked up by kind, since most events concern few readings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Protocol

from outlast.domain.events import Recorded

Hears = Mapping[type[Any], Callable[[Any, Recorded, Any], None]]
"""By the kind of an event, the method that takes it in, given the event in its place and the event itself."""


class Reading(Protocol):
    """What is read from a journal event by event; all kinds of events that `HEARS` does not name leave it as it is."""

    HEARS: ClassVar[Hears]


def hear(reading: Reading, recorded: Recorded) -> None:
    """Read one more event."""
    heard = reading.HEARS.get(type(recorded.event))
    if heard is not None:
        heard(reading, recorded, recorded.event)


def heard_by(kinds: Iterable[type[Reading]]) -> dict[type[Any], tuple[tuple[int, Callable[..., None]], ...]]:
    """For several readings at once, by the kind of an event: which of them hear it, by their places, and how."""
    places = list(enumerate(kinds))
    events = dict.fromkeys(event for _, kind in places for event in kind.HEARS)
    return {
        event: tuple([(place, kind.HEARS[event]) for place, kind in places if event in kind.HEARS])
        for event in events
    }
