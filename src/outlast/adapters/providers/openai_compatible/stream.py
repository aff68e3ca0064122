"""Server-sent events from bytes, however the network cut them. Source: WHATWG HTML, 9.2.6 Interpreting an
event stream."""

from __future__ import annotations

from typing import Final

from outlast.domain.dataclass import dataclass

DONE: Final = "[DONE]"
"""The data of the event that ends a stream of chat completions."""

_LINE_ENDS: Final = (b"\n", b"\r")
_DOCUMENT_STARTS: Final = (b"{", b"[")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its name (empty when the server gave none) and its data, bytes that are no UTF-8 as `surrogateescape` spells them.

    `is_document` when it is no event of a stream but the whole body, one JSON document.
    """

    name: str
    data: str
    is_document: bool = False


class EventReader:
    """Turns the bytes of a stream into events as they become whole. No input makes it fail.

    Two liberties are taken with the specification, because servers take them: a JSON document right after
    another one starts a new event though no blank line stands between (`}` before `{` can be inside no
    document), and the end of the stream ends the last event. A body that begins as JSON does is no stream but one document, whatever
    its headers say, and becomes whole with its end.
    """

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._ended_in_return = False
        self._is_first_line = True
        self._document: list[bytes] | None = None
        self._name = b""
        self._data: list[bytes] = []

    def feed(self, data: bytes) -> list[Event]:
        """The events that `data` makes whole."""
        if self._ended_in_return and data:
            data = data.removeprefix(b"\n")
            self._ended_in_return = False
        events: list[Event] = []
        for piece in data.splitlines(keepends=True):
            self._line.append(piece)
            if piece.endswith(_LINE_ENDS):
                self._take_line(b"".join(self._line).rstrip(b"\r\n"), events)
                self._line.clear()
        self._ended_in_return = data.endswith(b"\r")
        return events

    def end(self) -> list[Event]:
        """The event the stream ended in, if any."""
        events: list[Event] = []
        self._take_line(b"".join(self._line), events)
        self._dispatch(events)
        if self._document is not None:
            events.append(Event("", _as_text(b"\n".join(self._document)), is_document=True))
        return events

    def _take_line(self, line: bytes, events: list[Event]) -> None:
        if self._is_first_line and line:
            line = line.removeprefix(_BYTE_ORDER_MARK)
            self._document = [] if line.lstrip().startswith(_DOCUMENT_STARTS) else None
            self._is_first_line = not line.strip()
        if self._document is not None:
            self._document.append(line)
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line:
            self._dispatch(events)
        elif field == b"data":
            self._take_data(value, events)
        elif field == b"event":
            self._name = value

    def _take_data(self, value: bytes, events: list[Event]) -> None:
        is_done = value.strip() == DONE.encode()
        if (
            self._data
            and self._data[-1].rstrip().endswith(b"}")
            and (is_done or value.lstrip().startswith(b"{"))
        ):
            self._dispatch(events)
        self._data.append(value)
        if is_done:
            self._dispatch(events)

    def _dispatch(self, events: list[Event]) -> None:
        data = b"\n".join(self._data).strip()
        if data:
            events.append(Event(self._name.decode("utf-8", "replace"), _as_text(data)))
        self._data.clear()
        self._name = b""


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
