"""A provider that says again what was recorded."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from outlast.adapters.providers.replay.entry import (
    NEXT_STEP,
    Answered,
    Entry,
    as_answer,
    as_failure,
    trouble_with_header,
)
from outlast.adapters.providers.replay.hiding import Hiding
from outlast.adapters.providers.replay.key import key_of, settled
from outlast.adapters.providers.tokens import estimate_request_tokens
from outlast.domain.door import clean_text
from outlast.domain.errors import CallerMistake, ModelCallFailed
from outlast.domain.message import Message
from outlast.ports.provider import Delta, ModelAnswer, ModelRequest, Observer, ToolSchema


class ReplayDiverged(ModelCallFailed):
    """Nothing recorded answers the request; asking again will not help."""

    def __init__(self, detail: str) -> None:
        super().__init__("bad_request", detail, NEXT_STEP)
        self.code = "replay_diverged"


class ReplayProvider:
    """Answers each request as it was answered when it was recorded: failures, pieces and usage included.

    The same request made several times gets the answers in the order they were recorded, and the last one from then on, so that a
    call that is repeated after a crash is answered too.
    """

    def __init__(self, entries: Sequence[Entry], secrets: Iterable[str] = ()) -> None:
        self._hide = Hiding(secrets)
        self._by_key: dict[str, deque[Entry]] = {}
        for entry in entries:
            self._by_key.setdefault(entry.key, deque()).append(entry)

    @classmethod
    def from_file(cls, path: Path, secrets: Iterable[str] = ()) -> Self:
        """A provider that replays a recording. Raises CallerMistake (`invalid_recording`)."""
        return cls(read_recording(path), secrets)

    async def answer(self, request: ModelRequest, observe: Observer) -> ModelAnswer:
        """What was answered. Raises ModelCallFailed as it was recorded, and ReplayDiverged for what was never asked."""
        entries = self._by_key.get(key_of(request, self._hide))
        if not entries:
            raise ReplayDiverged(_diverged(request))
        entry = entries.popleft() if len(entries) > 1 else entries[0]
        if entry.failure is not None:
            raise as_failure(entry.failure)
        assert entry.answer is not None
        for piece in _pieces(entry.answer):
            observe(piece)
            await asyncio.sleep(0)
        return as_answer(entry.answer)

    def count_tokens(self, messages: Sequence[Message], tools: tuple[ToolSchema, ...]) -> int:
        """An estimate, made offline, of the tokens `messages` and `tools` would take."""
        return estimate_request_tokens(messages, tools)

    async def close(self) -> None:
        """Nothing to give up."""


def read_recording(path: Path) -> list[Entry]:
    """The calls in a recording. A last line that was cut off is left out. Raises CallerMistake (`invalid_recording`)."""
    try:
        lines = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise _invalid(path, f"cannot be read ({reason})") from error
    trouble = trouble_with_header(lines[0])
    if trouble is not None:
        raise _invalid(path, *trouble)
    return [_entry(path, number, line) for number, line in enumerate(lines[1:-1], start=2) if line]


def _entry(path: Path, number: int, line: str) -> Entry:
    try:
        entry = Entry.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise _invalid(path, f"has a broken line {number}: {first['msg']}") from error
    if (entry.answer is None) == (entry.failure is None):
        raise _invalid(path, f"has a broken line {number}: it needs an answer or a failure")
    return entry


def _invalid(path: Path, what: str, next_step: str = NEXT_STEP) -> CallerMistake:
    return CallerMistake("invalid_recording", f"The recording {path} {what}.", next_step)


def _pieces(answer: Answered) -> Iterator[Delta]:
    """The answer in the pieces it came in; in one where their lengths do not add up any more, as when a secret was removed."""
    text, reasoning = answer.text, answer.reasoning or ""
    fits = sum(words for words, _ in answer.pieces) == len(text)
    if not fits or sum(thoughts for _, thoughts in answer.pieces) != len(reasoning):
        yield Delta(text, reasoning)
        return
    at, thought = 0, 0
    for words, thoughts in answer.pieces:
        yield Delta(text[at : at + words], reasoning[thought : thought + thoughts])
        at, thought = at + words, thought + thoughts


def _diverged(request: ModelRequest) -> str:
    newest = settled(clean_text(request.messages[-1].text))[-200:] if request.messages else ""
    return (
        f"Nothing recorded answers call {request.call_id} (purpose {request.purpose}, role {request.role}): the "
        f"task, its material or outlast itself has changed since. The newest message ends in {newest!r}."
    )
