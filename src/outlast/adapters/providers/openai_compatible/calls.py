"""Tool calls put together from deltas, for servers that number them, name them, do both or neither."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Final

from outlast.adapters.providers.arguments import read_call
from outlast.adapters.providers.openai_compatible.surrogates import joined
from outlast.domain.dataclass import dataclass
from outlast.domain.tool_call import ToolCall

_MOST_NAME_CHARACTERS: Final = 256
"""No tool has a longer name; of what is longer this much is told to the model."""


@dataclass(slots=True)
class _Open:
    """A call being streamed."""

    id: str = ""
    name: str = ""
    text: list[str] = field(default_factory=list)
    value: object = None

    def sent(self) -> object:
        """The arguments as they were sent."""
        return self.value if self.value is not None else joined("".join(self.text))

    def ends_before(self, call_id: str, name: str, arguments: object) -> bool:
        """Whether a delta under the same index, or under none, belongs to another call.

        It does when it brings another id and a name, or either though these arguments are whole: nothing can be added to
        a whole object. Another id alone belongs to servers that make one up for every delta.
        """
        if call_id and self.id and call_id != self.id:
            return bool(name) or (bool(arguments) and self._is_whole())
        return bool(name) and (bool(arguments) or name != self.name) and self._is_whole()

    def add(self, call_id: str, name: str, arguments: object) -> None:
        self.id = self.id or call_id
        if name != self.name and not self.text:
            self.name += name
        if isinstance(arguments, str):
            self.text.append(arguments)
        elif arguments is not None:
            self.value = arguments

    def _is_whole(self) -> bool:
        if self.value is not None:
            return True
        if not self.text or not self.text[-1].rstrip().endswith("}"):
            return False
        try:
            return isinstance(json.loads("".join(self.text)), dict)
        except (ValueError, RecursionError):
            return False


class CallBuilder:
    """Collects the deltas of tool calls and builds the calls at the end."""

    def __init__(self) -> None:
        self._calls: list[_Open] = []
        self._by_index: dict[int | str, _Open] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, delta: object, *, is_whole: bool = False) -> bool:
        """Take one entry of `tool_calls`; `is_whole` when it is a call by itself. False when it brings
        nothing."""
        if not isinstance(delta, dict):
            return False
        function = delta.get("function")
        function = function if isinstance(function, dict) else {}
        call_id, name, arguments = (
            _text(delta.get("id")),
            _text(function.get("name")),
            function.get("arguments"),
        )
        if not call_id and not name and arguments in (None, ""):
            return False
        call = None if is_whole else self._meant(delta.get("index"), call_id, name, arguments)
        (call or self._open(delta.get("index"))).add(call_id, name, arguments)
        return True

    def build(self, tool_names: Mapping[str, str], *, is_cut: bool) -> tuple[ToolCall, ...]:
        """The calls in the order they were opened, under the tools' own names, with ids that occur once.

        With `is_cut` the answer ended for length: a last call without arguments was cut before them, so it
        has a problem.
        """
        calls: list[ToolCall] = []
        for opened in self._calls:
            call_id = _unused(opened.id, {call.id for call in calls})
            calls.append(read_call(call_id, tool_names.get(opened.name, opened.name), opened.sent()))
        if is_cut and calls and not str(self._calls[-1].sent()).strip():
            calls[-1] = replace(calls[-1], problem="The answer was cut before the arguments.", raw="")
        return tuple(calls)

    def sent_text(self) -> str:
        """Names and arguments so far, to estimate their tokens."""
        return "".join(f"{call.name}{call.sent()}" for call in self._calls)

    def _meant(self, index: object, call_id: str, name: str, arguments: object) -> _Open | None:
        """The open call a delta goes on with, or None if it opens one.

        Arguments without a name open none, whatever index or id they bring: else the call they are meant for would run without
        them.
        """
        place = _place(index)
        call = self._by_index.get(place) if place is not None else None
        if call is None and (place is None or not name):
            call = self._unplaced(call_id, name, arguments)
        return None if call is None or call.ends_before(call_id, name, arguments) else call

    def _unplaced(self, call_id: str, name: str, arguments: object) -> _Open | None:
        newest = self._calls[-1] if self._calls else None
        if not call_id:
            return newest
        same = next((call for call in reversed(self._calls) if call.id == call_id), None)
        goes_on = newest is not None and not name and (bool(arguments) or not newest.id)
        return same or (newest if goes_on else None)

    def _open(self, index: object) -> _Open:
        call = _Open()
        self._calls.append(call)
        place = _place(index)
        if place is not None:
            self._by_index[place] = call
        return call


def _place(index: object) -> int | str | None:
    """The index of a call, the same whether a server writes it as a number or as text; None where it gives none."""
    if isinstance(index, str):
        return int(index) if index.isdecimal() and len(index) < 10 else index
    return int(index) if isinstance(index, int | float) and index == index // 1 else None


def _text(value: object) -> str:
    return joined(value[:_MOST_NAME_CHARACTERS]) if isinstance(value, str) else ""


def _unused(call_id: str, used: set[str]) -> str:
    """`call_id`, numbered if it is taken; an empty id stays empty."""
    candidate, number = call_id, 2
    while candidate and candidate in used:
        candidate, number = f"{call_id}_{number}", number + 1
    return candidate
