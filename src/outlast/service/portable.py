"""A run as lines of text that any store can take up: what `outlast export` writes and `outlast import` reads.

One JSON object a line: a header with the version of the format and how much follows; the run's row; the thread's row; what was said
in the thread; every event as it is stored; every payload; the background tasks that travel along; and a last line with the number
of lines and a digest of all before it. Equal runs give equal bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final

from outlast.domain.dataclass import dataclass
from outlast.domain.errors import CallerMistake
from outlast.domain.ids import is_safe_id
from outlast.ports.run_rows import RunRow
from outlast.ports.stream import EventRow
from outlast.ports.thread_rows import ThreadRow
from outlast.service.background.moving import PortableTask, portable_task

FORMAT: Final = "outlast-run"
VERSION: Final = 2
"""The newest version. A run without background tasks is written in the first, which every program reads."""

_dump = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_DAMAGES: Final = (ValueError, TypeError, KeyError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Portable:
    """A run with its thread and all it refers to. The payloads of each stream are named by digest; `contents` has them all."""

    run: RunRow
    thread: ThreadRow
    words: tuple[EventRow, ...]
    events: tuple[EventRow, ...]
    run_payloads: tuple[str, ...]
    thread_payloads: tuple[str, ...]
    contents: dict[str, bytes]
    tasks: tuple[PortableTask, ...] = ()


class Lines:
    """Makes lines of what it is given, and the last one of all it has made."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._count = 0

    def header(self, run_id: str, events: int, words: int, payloads: int, tasks: int = 0) -> bytes:
        """The first line."""
        counts = {"events": events, "words": words, "payloads": payloads}
        more = {"tasks": tasks} if tasks else {}
        version = VERSION if tasks else 1
        return self._line({"format": FORMAT, "version": version, "run_id": run_id, **counts, **more})

    def run(self, row: RunRow) -> bytes:
        """The line of the run's row."""
        return self._line({"run": {name: _plain(getattr(row, name)) for name in _RUN_FIELDS}})

    def thread(self, row: ThreadRow) -> bytes:
        """The line of the thread's row."""
        return self._line({"thread": {name: _plain(getattr(row, name)) for name in _THREAD_FIELDS}})

    def said(self, row: EventRow) -> bytes:
        """The line of words of the thread."""
        return self._line({"said": _event(row)})

    def event(self, row: EventRow) -> bytes:
        """The line of an event."""
        return self._line({"event": _event(row)})

    def payload(self, digest: str, of: list[str], content: bytes) -> bytes:
        """The line of a payload: as text where it is text, else in base64. `of` names whose it is, run or thread."""
        try:
            shown = {"text": content.decode("utf-8")}
        except UnicodeDecodeError:
            shown = {"base64": base64.b64encode(content).decode("ascii")}
        return self._line({"payload": {"digest": digest, "of": of, **shown}})

    def task(self, task: PortableTask) -> bytes:
        """The line of a background task."""
        return self._line({"task": task.plain()})

    def end(self) -> bytes:
        """The last line."""
        return self._line({"end": {"lines": self._count, "sha256": self._digest.hexdigest()}})

    def _line(self, value: dict[str, Any]) -> bytes:
        line = _dump(value).encode("utf-8") + b"\n"
        self._digest.update(line)
        self._count += 1
        return line


def read_portable(lines: Iterable[bytes]) -> Portable:
    """The run that lines describe, whole and unchanged since they were written.

    Raises CallerMistake: `not_an_export`, `export_newer` for a later format, `export_damaged` for lines that were cut, changed or
    mixed up.
    """
    checked = _Checked(lines)
    header = _header(next(checked, b""))
    try:
        return _Reading(header, checked).portable()
    except StopIteration as cut:
        raise _damaged(f"it ends after line {checked.count}") from cut
    except _DAMAGES as error:
        raise _damaged(f"line {checked.count}: {error}") from error


_RUN_FIELDS: Final = (
    *("run_id", "thread_id", "user_id", "task", "state", "is_active", "created_at", "updated_at", "summary"),
    *("key", "outcome", "min_reader"),
)
_THREAD_FIELDS: Final = ("thread_id", "user_id", "title", "created_at")
_EVENT_FIELDS: Final = ("position", "kind", "version", "at", "body")


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value


def _event(row: EventRow) -> dict[str, object]:
    return {name: _plain(getattr(row, name)) for name in _EVENT_FIELDS}


class _Checked:
    """Lines in turn, counted and digested; each is whole."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = iter(lines)
        self.digest = hashlib.sha256()
        self.count = 0

    def __iter__(self) -> _Checked:
        return self

    def __next__(self) -> bytes:
        line = next(self._lines)
        if not line.endswith(b"\n"):
            raise _damaged(f"line {self.count + 1} is cut")
        self.digest.update(line)
        self.count += 1
        return line


class _Reading:
    """Reads what a header has announced, in its order."""

    def __init__(self, header: dict[str, Any], lines: _Checked) -> None:
        self._header = header
        self._lines = lines

    def portable(self) -> Portable:
        run = _row(RunRow, _RUN_FIELDS, self._next("run"))
        thread = _row(ThreadRow, _THREAD_FIELDS, self._next("thread"))
        words = tuple(self._events("said", self._header["words"]))
        events = tuple(self._events("event", self._header["events"]))
        payloads = [self._payload() for _ in range(self._header["payloads"])]
        tasks = tuple(portable_task(self._next("task")) for _ in range(self._header.get("tasks", 0)))
        self._end()
        _expect(
            run.run_id == self._header["run_id"] and run.thread_id == thread.thread_id, "the ids do not fit"
        )
        _expect(is_safe_id(run.run_id) and is_safe_id(thread.thread_id), "the ids are none")
        return Portable(
            run=run,
            thread=thread,
            words=words,
            events=events,
            run_payloads=tuple(digest for digest, of, _ in payloads if "run" in of),
            thread_payloads=tuple(digest for digest, of, _ in payloads if "thread" in of),
            contents={digest: content for digest, _, content in payloads},
            tasks=tasks,
        )

    def _next(self, name: str) -> dict[str, Any]:
        value = json.loads(next(self._lines))
        _expect(isinstance(value, dict) and list(value) == [name], f"expected {name}")
        found: dict[str, Any] = value[name]
        return found

    def _events(self, name: str, count: int) -> Iterator[EventRow]:
        for position in range(1, count + 1):
            row = _row(EventRow, _EVENT_FIELDS, self._next(name))
            _expect(row.position == position, f"expected position {position}, found {row.position}")
            yield row

    def _payload(self) -> tuple[str, list[str], bytes]:
        found = self._next("payload")
        text, digest = found.get("text"), found["digest"]
        content = text.encode() if text is not None else base64.b64decode(found["base64"], validate=True)
        _expect(
            hashlib.sha256(content).hexdigest() == digest, f"the payload {digest} is not what its digest says"
        )
        return digest, found["of"], content

    def _end(self) -> None:
        seen = {"lines": self._lines.count, "sha256": self._lines.digest.hexdigest()}
        _expect(self._next("end") == seen, "the digest at the end is another")
        _expect(next(self._lines, None) is None, "something follows the end")


def _header(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except _DAMAGES:
        found = None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise CallerMistake(
            "not_an_export",
            "This is not the export of a run.",
            "Give a file that `outlast export RUN --format jsonl -o FILE` or `outlast archive` has written.",
        )
    version = found.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise CallerMistake(
            "export_newer",
            f"The file has version {version} of the format, this program knows versions up to {VERSION}.",
            "Upgrade outlast on this machine.",
        )
    return found


def _row(kind: Any, names: tuple[str, ...], found: dict[str, Any]) -> Any:
    _expect(tuple(found) == names, f"expected the fields {', '.join(names)}")
    times = {
        name: datetime.fromisoformat(found[name]) for name in names if name == "at" or name.endswith("_at")
    }
    return kind(**{**found, **times})


def _expect(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)


def _damaged(why: str) -> CallerMistake:
    return CallerMistake(
        "export_damaged",
        f"The file is not as it was written: {why}.",
        "Copy it again from where it was written; do not edit it.",
    )
