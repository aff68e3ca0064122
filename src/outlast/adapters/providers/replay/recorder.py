"""Records every call of the providers it is put before, secrets removed."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from outlast.adapters.providers.replay.entry import Entry, Header, answered, failed
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
        if begun and not begun.startswith(_HEADER[:-3]):
            os.close(self._file)
            raise CallerMistake(
                "not_a_recording", f"{path} is there and is no recording.", "Name another file."
            )
        if not begun:
            os.write(self._file, _HEADER)

    def keep(self, entry: Entry) -> None:
        """Write one call."""
        line = self.hide(entry.model_dump_json(exclude_defaults=True)) + "\n"
        with self._lock:
            os.write(self._file, line.encode("utf-8", "replace"))

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
            self._file = -1


_HEADER: Final = (Header().model_dump_json() + "\n").encode()


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
