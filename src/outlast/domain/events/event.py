"""What every event is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Event:
    """The base of all events. VERSION is the version of the kind's fields."""

    VERSION: ClassVar[int] = 1
