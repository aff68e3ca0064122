"""The process a plain function runs in: reads one job, calls, sends one answer back, ends."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import os
import pickle
import signal
import socket
import sys
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, NoReturn

from outlast.adapters.execution.loading import Origin, load
from outlast.adapters.execution.outcome import Answer, answer_of, encode
from outlast.adapters.execution.revive import revivable, revive_arguments
from outlast.adapters.execution.schema_from_hints import context_parameter
from outlast.domain.errors import ToolTrouble
from outlast.ports.tool import ToolContext

CARRIED: Final = ("user_id", "thread_id", "run_id", "call_id", "idempotency_key", "subtask")
"""The fields of a ToolContext that a job carries as they are; the workspace goes as its path, services stay behind."""


class OutOfReach:
    """Stands for the services of a ToolContext, none of which reaches into a child process."""

    def __init__(self, service: str) -> None:
        self._service = service

    def __getattr__(self, name: str) -> Any:
        raise ToolTrouble(
            "tool_failed",
            f"context.{self._service} cannot be used by a plain def, which runs in a process of its own.",
            "Write the tool as async def execute.",
        )


def run_job(talk_descriptor: int, printed_descriptor: int) -> NoReturn:
    """Serve the one job that comes over `talk`, with everything printed going to `printed`, and end the process."""
    _settle(printed_descriptor)
    os.set_inheritable(talk_descriptor, False)
    talk = socket.socket(fileno=talk_descriptor)
    answer: Answer | BaseException
    try:
        answer = _call(json.loads(_received(talk)))
    except BaseException as error:  # noqa: BLE001 - whatever a tool raises, SystemExit too, is its answer
        answer = error
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    try:
        frame = encode(answer)
    except BaseException as error:  # noqa: BLE001 - an exception whose own text cannot be made
        frame = encode(RuntimeError(f"the result cannot be sent: {type(error).__name__}"))
    with contextlib.suppress(OSError):
        talk.sendall(len(frame).to_bytes(8, "big") + frame)
    # Threads and exit handlers of the tool have no say any more.
    os._exit(0)


def _settle(printed_descriptor: int) -> None:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(printed_descriptor, 1)
    os.dup2(printed_descriptor, 2)
    os.close(printed_descriptor)
    sys.stdout, sys.stderr = (
        os.fdopen(descriptor, "w", buffering=1, encoding="utf-8", errors="replace") for descriptor in (1, 2)
    )
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # When memory runs out, the tool goes before the worker does.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _received(talk: socket.socket) -> bytes:
    with talk.makefile("rb") as stream:
        return stream.read(int.from_bytes(stream.read(8), "big"))


def _call(job: Mapping[str, Any]) -> Answer:
    sys.path[:] = job["sys_path"]
    target = load(Origin(**job["origin"]))
    function = _instance(target, job["state"]).execute if isinstance(target, type) else target
    arguments = revive_arguments(revivable(function), job["arguments"])
    if (name := context_parameter(function)) is not None:
        arguments[name] = _context(job["context"])
    returned = function(**arguments)
    return answer_of(asyncio.run(returned) if inspect.iscoroutine(returned) else returned)


def _instance(made: type, state: str | None) -> Any:
    if state is None:
        return made()
    instance: Any = object.__new__(made)
    instance.__dict__.update(pickle.loads(b64decode(state)))  # noqa: S301 - our own parent made it
    return instance


def _context(given: Mapping[str, Any]) -> ToolContext:
    services = {
        field.name: OutOfReach(field.name) for field in fields(ToolContext) if field.name not in given
    }
    return ToolContext(**{**services, **given, "workspace": Path(given["workspace"])})
