"""Results that may serve again: the same question to a tool that only reads, within its time. Errors never serve."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

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

    HEARS: Final = frozenset({ModelAnswered, ToolRequested, ToolAnswered, RunStarted, ToolsChanged})
    """The kinds of events it reads; all others leave it as it is."""

    def __init__(self) -> None:
        self._asked: dict[str, ToolCall] = {}
        self._kept: dict[str, Kept] = {}
        self._serving: set[str] = set()

    def fold(self, recorded: Recorded) -> None:
        """Read one more event."""
        match recorded.event:
            case RunStarted(tools=tools) | ToolsChanged(tools=tools):
                changed = {tool.name for tool in tools}
                self._serving -= changed
                self._serving |= {tool.name for tool in tools if tool.cache_seconds > 0}
            case _ if not (self._serving or self._asked):
                pass  # no result of this run may serve again
            case ModelAnswered(tool_calls=calls):
                self._asked.update({call.id: call for call in calls if call.name in self._serving})
            case ToolRequested(call=name, edited=dict() as edited) if name in self._asked:
                self._asked[name] = replace(self._asked[name], arguments=edited)
            case ToolAnswered(call=name, outcome=outcome, by=None):
                asked = self._asked.pop(name, None)
                if asked is not None and outcome.ok and outcome.cached_from is None:
                    self._keep(question(asked.name, asked.arguments), Kept(name, recorded.at, outcome))
            case ToolAnswered(call=name):
                self._asked.pop(name, None)
            case _:
                pass

    def lookup(
        self, name: str, arguments: dict[str, Json], now: datetime, seconds: float
    ) -> ToolOutcome | None:
        """A result made within the last `seconds`, with a note of when it was made."""
        kept = self._kept.get(question(name, arguments))
        if kept is None or (now - kept.at).total_seconds() > seconds:
            return None
        return replace(kept.outcome, note=cached_note(kept.at), cached_from=kept.call, duration_ms=0)

    def _keep(self, asked: str, kept: Kept) -> None:
        self._kept[asked] = kept
        if len(self._kept) > _MOST:
            del self._kept[next(iter(self._kept))]


def question(name: str, arguments: dict[str, Json]) -> str:
    """What tells one question to a tool from another: all of its arguments."""
    return digest_of(f"{name} {canonical_json(arguments)}")
