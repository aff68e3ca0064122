"""Results that may serve again: the same question to a tool that only reads, within its time. Errors never serve."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import ClassVar, Final

from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json, canonical_json, digest_of
from outlast.domain.events import (
    ModelAnswered,
    Recorded,
    RunStarted,
    ToolAnswered,
    ToolRequested,
    ToolsChanged,
)
from outlast.domain.tool_call import ToolCall, ToolOutcome
from outlast.runs.hearing import Hears, hear

_MOST: Final = 500


@dataclass(frozen=True, slots=True)
class Kept:
    """A result, the call it was made for and when."""

    call: str
    at: datetime
    outcome: ToolOutcome


def cached_note(made_at: datetime) -> str:
    """What a model is told with a result that was not fetched anew."""
    at = made_at.isoformat(timespec="seconds")
    return f"[This is the result of the same call made at {at}; it was not made again.]"


class Cache:
    """Results of a run by question."""

    def __init__(self) -> None:
        self._asked: dict[str, ToolCall] = {}
        self._kept: dict[str, Kept] = {}
        self._serving: set[str] = set()

    def fold(self, recorded: Recorded) -> None:
        """Read one more event."""
        hear(self, recorded)

    def lookup(
        self, name: str, arguments: dict[str, Json], now: datetime, seconds: float
    ) -> ToolOutcome | None:
        """A result made within the last `seconds`, with a note of when it was made."""
        kept = self._kept.get(question(name, arguments))
        if kept is None or (now - kept.at).total_seconds() > seconds:
            return None
        return replace(kept.outcome, note=cached_note(kept.at), cached_from=kept.call, duration_ms=0)

    def _offered(self, _recorded: Recorded, event: RunStarted | ToolsChanged) -> None:
        self._serving -= {tool.name for tool in event.tools}
        self._serving |= {tool.name for tool in event.tools if tool.cache_seconds > 0}

    def _answered(self, _recorded: Recorded, event: ModelAnswered) -> None:
        if self._serving:
            self._asked.update({call.id: call for call in event.tool_calls if call.name in self._serving})

    def _requested(self, _recorded: Recorded, event: ToolRequested) -> None:
        if event.edited is not None and event.call in self._asked:
            self._asked[event.call] = replace(self._asked[event.call], arguments=event.edited)

    def _tool_answered(self, recorded: Recorded, event: ToolAnswered) -> None:
        asked, outcome = self._asked.pop(event.call, None), event.outcome
        if asked is not None and event.by is None and outcome.ok and outcome.cached_from is None:
            self._keep(question(asked.name, asked.arguments), Kept(event.call, recorded.at, outcome))

    def _keep(self, asked: str, kept: Kept) -> None:
        self._kept[asked] = kept
        if len(self._kept) > _MOST:
            del self._kept[next(iter(self._kept))]

    HEARS: ClassVar[Hears] = {
        RunStarted: _offered,
        ToolsChanged: _offered,
        ModelAnswered: _answered,
        ToolRequested: _requested,
        ToolAnswered: _tool_answered,
    }


def question(name: str, arguments: dict[str, Json]) -> str:
    """What tells one question to a tool from another: all of its arguments."""
    return digest_of(f"{name} {canonical_json(arguments)}")
