"""Long-term memory: what outlives a run, whose it is, where it came from and how long it holds."""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from outlast.domain.dataclass import dataclass
from outlast.domain.door import canonical_json, clean_text
from outlast.domain.errors import CallerMistake

MAX_MEMORY_CHARS: Final = 8000
"""How long the text of one entry may be; a page that is longer enters as several."""


class MemoryKind(StrEnum):
    """What an entry is: a passage that was read, a fact, a conclusion of a run, or what somebody asked to be remembered."""

    PAGE = "page"
    FACT = "fact"
    CONCLUSION = "conclusion"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Scope:
    """Whom an entry is for, and in whose name memory is asked: a user, one of the user's threads, one run of that thread.

    An entry is seen where each part it names is the same: one for a user everywhere, one for a thread in that thread only.
    """

    user_id: str
    thread_id: str | None = None
    run_id: str | None = None

    def sees(self, entry: Scope) -> bool:
        """May this asker see an entry of scope `entry`?"""
        return (
            entry.user_id == self.user_id
            and entry.thread_id in (None, self.thread_id)
            and entry.run_id in (None, self.run_id)
        )


@dataclass(frozen=True, slots=True)
class Origin:
    """The event an entry was made from; all None for what a person entered outside of any run."""

    thread_id: str | None = None
    run_id: str | None = None
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Vector:
    """The meaning of a text as one embedder sees it: float32, little endian, of length one.

    Vectors are compared within one `space` only: the same embedder and as many dimensions.
    """

    embedder: str
    data: bytes

    @classmethod
    def of(cls, embedder: str, values: Iterable[float]) -> Vector:
        """The vector with these components, brought to length one. Raises ValueError when none is finite and other than zero."""
        numbers = array("f", values)
        length = math.sqrt(sum(number * number for number in numbers))
        if not math.isfinite(length) or length == 0.0:
            raise ValueError("the components of a vector are finite, and not all zero")
        return cls(embedder, array("f", (number / length for number in numbers)).tobytes())

    @property
    def dimensions(self) -> int:
        """How many components there are."""
        return len(self.data) // 4

    @property
    def space(self) -> str:
        """The vectors this one can be compared with: `EMBEDDER/DIMENSIONS`."""
        return f"{self.embedder}/{self.dimensions}"

    def values(self) -> array[float]:
        """The components."""
        return array("f", self.data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One entry.

    `source` is the address or ledger key it is supported by, `title` what that is called. `subtasks` are those it was found in.
    It holds from `valid_from` until `valid_to` (None: still), and is forgotten at `expires_at` (None: never). An entry that a newer
    one replaced names it in `superseded_by`; an archived one is kept and no longer recalled. Times are aware UTC.

    `memory_id` follows from scope, kind, text, source and origin, so that what is remembered again after a crash is the same entry.
    """

    kind: MemoryKind
    text: str
    scope: Scope
    created_at: datetime
    valid_from: datetime
    title: str = ""
    source: str = ""
    subtasks: tuple[str, ...] = ()
    origin: Origin = Origin()
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    superseded_by: str | None = None
    archived_at: datetime | None = None
    memory_id: str = ""

    def __post_init__(self) -> None:
        if not self.memory_id:
            object.__setattr__(self, "memory_id", _id_of(self))

    def holds_at(self, at: datetime) -> bool:
        """Is it valid then, as far as is known?"""
        return self.valid_from <= at and (self.valid_to is None or at < self.valid_to)


def storable(memory: Memory) -> Memory:
    """The entry as it will be read back: lone surrogates and NUL are replaced by U+FFFD.

    Raises CallerMistake (`bad_memory`) for one without text, with more than MAX_MEMORY_CHARS of it, or for a run without a thread.
    """
    text, title, source = (_clean(value) for value in (memory.text, memory.title, memory.source))
    if not text.strip():
        raise _refused("has no text", "Remember a text.")
    if len(text) > MAX_MEMORY_CHARS:
        detail = f"has {len(text)} characters; at most {MAX_MEMORY_CHARS} are kept in one"
        raise _refused(detail, "Shorten it, or enter it in pieces.")
    if memory.scope.run_id is not None and memory.scope.thread_id is None:
        raise _refused("is for a run and names no thread", "Name the thread of the run, too.")
    subtasks = tuple(sorted({_clean(subtask) for subtask in memory.subtasks}))
    changed = (text, title, source, subtasks) != (memory.text, memory.title, memory.source, memory.subtasks)
    return (
        replace(memory, text=text, title=title, source=source, subtasks=subtasks, memory_id="")
        if changed
        else memory
    )


def askable(text: str) -> str:
    """A query as every store can take it: what `storable` replaces in what is kept, and no more than MAX_MEMORY_CHARS of it."""
    return _clean(text[:MAX_MEMORY_CHARS])


def _clean(text: str) -> str:
    return clean_text(text).replace("\x00", "\ufffd")


def _refused(detail: str, next_step: str) -> CallerMistake:
    return CallerMistake("bad_memory", f"An entry of memory {detail}.", next_step)


def content_digest(memory: Memory) -> str:
    """The same for two entries of one scope that say the same, wherever they came from."""
    scope = memory.scope
    what = [scope.user_id, scope.thread_id, scope.run_id, memory.kind.value, memory.text, memory.source]
    return _digest(what)


def _id_of(memory: Memory) -> str:
    origin = memory.origin
    return "m-" + _digest([content_digest(memory), origin.thread_id, origin.run_id, origin.position])[:20]


def _digest(parts: Sequence[object]) -> str:
    return hashlib.sha256(canonical_json(list(parts)).encode("utf-8", "surrogatepass")).hexdigest()
