"""Records every call of the providers it is put before, secrets removed."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from outlast.adapters.providers.replay.entry import Entry, Header, answered, failed, trouble_with_header
from outlast.adapters.providers.replay.hiding import Hiding
from outlast.adapters.providers.replay.key import key_of, settled
from outlast.domain.door import clean_text
from outlast.domain.errors import CallerMistake, ModelCallFailed
from outlast.domain.message import Message
from outlast.ports.provider import Delta, ModelAnswer, ModelRequest, Observer, Provider, ToolSchema

SHOWN_CHARACTERS: Final = 400


class Recording:
    """A file that calls are written to, one line each, as they end. It is readable by its owner only.

    A recording that is there already is gone on with; any other file that is not empty is refused with CallerMistake
    (`not_a_recording`), one that cannot be written with `unwritable_file`.
    """

    def __init__(self, path: Path, secrets: Iterable[str] = ()) -> None:
        self._path = path
        self._lock = threading.Lock()
        self.hide = Hiding(secrets)
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            detail = f"{path} cannot be written ({error.strerror})."
            raise CallerMistake(
                "unwritable_file", detail, "Name a file in a folder you may write to."
            ) from error
        begun = os.pread(self._file, 200, 0)
        if begun and (trouble := trouble_with_header(begun.partition(b"\n")[0])):
            os.close(self._file)
            detail = f"{path} is there and is no recording that can be gone on with: it {trouble[0]}."
            raise CallerMistake("not_a_recording", detail, "Name another file.")
        if not begun:
            os.write(self._file, _HEADER)
        else:
            _leave_out_half_a_line(self._file)

    def keep(self, entry: Entry) -> None:
        """Write one call."""
        text = json.dumps(entry.model_dump(exclude_defaults=True), ensure_ascii=False, separators=(",", ":"))
        line = clean_text(self.hide(text)).encode() + b"\n"
        with self._lock:
            while line:
                line = line[os.write(self._file, line) :]

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
            self._file = -1


_HEADER: Final = (Header().model_dump_json() + "\n").encode()


def _leave_out_half_a_line(file: int) -> None:
    """Take away the end of a line that a process was killed in the middle of."""
    size = os.fstat(file).st_size
    end = size
    while end and os.pread(file, 1, end - 1) != b"\n":
        end -= 1
    if end != size:
        os.ftruncate(file, end)


class Recorder:
    """A provider whose calls are recorded."""

    def __init__(self, provider: Provider, recording: Recording) -> None:
        self._provider = provider
        self._recording = recording

    async def answer(self, request: ModelRequest, observe: Observer) -> ModelAnswer:
        """As the provider answers. A call that is cancelled is not recorded."""
        pieces: list[tuple[int, int]] = []

        def heard(delta: Delta) -> None:
            pieces.append((len(delta.text), len(delta.reasoning)))
            observe(delta)

        try:
            answer = await self._provider.answer(request, heard)
        except ModelCallFailed as failure:
            self._keep(request, failure=failed(failure))
            raise
        self._keep(request, answer=answered(answer, pieces))
        return answer

    def count_tokens(self, messages: Sequence[Message], tools: tuple[ToolSchema, ...]) -> int:
        """As the provider counts."""
        return self._provider.count_tokens(messages, tools)

    async def close(self) -> None:
        """Close the provider; the recording is its owner's."""
        await self._provider.close()

    def _keep(self, request: ModelRequest, **outcome: Any) -> None:
        newest = (
            settled(clean_text(request.messages[-1].text))[-SHOWN_CHARACTERS:] if request.messages else ""
        )
        self._recording.keep(
            Entry(
                key=key_of(request, self._recording.hide),
                purpose=request.purpose,
                role=request.role,
                asked=newest,
                **outcome,
            )
        )
