"""What every event is."""

from __future__ import annotations

from typing import ClassVar

from outlast.domain.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """The base of all events. VERSION is the version of the kind's fields."""

    VERSION: ClassVar[int] = 1
