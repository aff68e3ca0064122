"""Alerts to a program of the operator's."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any


class CommandAlarm:
    """Runs a program for each alert, which reads it as one JSON document from standard input."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = tuple(command)

    async def send(self, told: Mapping[str, Any], deadline_seconds: float) -> str | None:
        """See `Alarm.send`. Exit code 0 means that it was taken; a program that takes too long is killed."""
        program = self._command[0]
        try:
            process = await self._started(json.dumps(told, ensure_ascii=False).encode())
        except OSError as error:
            return f"{program} could not be started ({error.strerror or type(error).__name__})"
        try:
            async with asyncio.timeout(deadline_seconds):
                await process.wait()
        except TimeoutError:
            return f"{program} did not end within {deadline_seconds:g} s"
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return None if process.returncode == 0 else f"{program} ended with {process.returncode}"

    async def _started(self, document: bytes) -> asyncio.subprocess.Process:
        """The program, with the document as its standard input: a file in memory, which it may also open as `/dev/stdin`."""
        with open(os.memfd_create("outlast-alert"), "w+b", buffering=0) as told:  # noqa: ASYNC230 - it is in memory
            told.write(document)
            told.seek(0)
            return await asyncio.create_subprocess_exec(
                *self._command,
                stdin=told,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
