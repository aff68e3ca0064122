"""The two ways a call is made: in the event loop, or in a process of its own."""

from __future__ import annotations

import asyncio
import pickle
import signal
import sys
from base64 import b64encode
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from typing import Any, Final, Protocol

from outlast.adapters.execution.child import Children, default_children
from outlast.adapters.execution.line import Ended
from outlast.adapters.execution.loading import Origin, origin_of
from outlast.adapters.execution.outcome import OTHERWISE, Answer, answer_of, decode, raised
from outlast.adapters.execution.printed import as_text
from outlast.adapters.execution.revive import revivable, revive_arguments
from outlast.adapters.execution.runner import CARRIED
from outlast.adapters.execution.schema_from_hints import context_parameter
from outlast.domain.bounded import bound
from outlast.domain.door import Json
from outlast.domain.errors import CallerMistake, Passing, ToolTrouble
from outlast.domain.under_way import rest_of
from outlast.ports.tool import BaseTool, ToolContext, ToolResult

_MOST_PRINTED_BYTES: Final = 4_000


class Called(Protocol):
    """What a call must know of the tool it is made for."""

    name: str
    timeout_seconds: float


class CallInLoop:
    """Calls an `async def` in the event loop; cancelled, or at the end of its time, it is cancelled too."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._context = context_parameter(function)
        self._revivable = revivable(function)

    async def __call__(self, tool: Called, arguments: dict[str, Json], context: ToolContext) -> Answer:
        """The answer. Raises Passing (`timeout`, `tool_failed`), and outlast's own errors as they come."""
        named = revive_arguments(self._revivable, arguments)
        if self._context is not None:
            _make_workspace(context)
            named[self._context] = context
        until_seconds = asyncio.get_running_loop().time() + tool.timeout_seconds
        try:
            work = self._function(**named)
            awaited = work.send(None)
        except StopIteration as done:  # it never waited, so that no clock could have ended it
            returned = done.value
        except Exception as error:
            raise raised(error) from error
        else:
            returned = await _in_time(tool, rest_of(work, awaited), until_seconds)
        return await _with_text(answer_of(returned), context)


class CallInChild:
    """Calls a plain `def` in a process of its own, which is ended with all it started."""

    def __init__(self, declared: Any, function: Callable[..., Any], children: Children | None) -> None:
        """`function` is what does the work of what was `declared`."""
        self._children = children
        self._takes_context = context_parameter(function) is not None
        self._origin, self._state = _whereabouts(declared)

    async def __call__(self, tool: Called, arguments: dict[str, Json], context: ToolContext) -> Answer:
        """The answer. Raises Passing (`timeout`, `tool_failed`), and outlast's own errors as they come."""
        children = self._children or default_children()
        ended = await children.call(self._job(arguments, context), tool.timeout_seconds)
        printed = await ended.printed.text(context.artifacts)
        if ended.is_timed_out:
            raise _timeout(tool, printed)
        if ended.frame is None:
            raise Passing("tool_failed", _end_in_words(ended) + _printed_note(printed), OTHERWISE)
        try:
            answer = decode(ended.frame)
        except Passing as error:
            raise Passing(error.code, error.detail + _printed_note(printed), error.next_step) from error
        return await _with_text(_with_printed(answer, printed), context)

    def _job(self, arguments: dict[str, Json], context: ToolContext) -> dict[str, Any]:
        carried = {name: getattr(context, name) for name in CARRIED}
        if self._takes_context:
            _make_workspace(context)
        return {
            "origin": asdict(self._origin),
            "state": self._state,
            "arguments": arguments,
            "context": {**carried, "workspace": str(context.workspace)},
            "sys_path": sys.path,
        }


def _whereabouts(declared: Any) -> tuple[Origin, str | None]:
    """Where the child finds the tool, and the attributes of an instance that was made with some."""
    if not isinstance(declared, BaseTool):
        return origin_of(declared), None
    if not vars(declared):
        return origin_of(type(declared)), None
    try:
        return origin_of(type(declared)), b64encode(pickle.dumps(vars(declared))).decode("ascii")
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        raise CallerMistake(
            "invalid_tool",
            f"The attributes of {type(declared).__name__} cannot be taken to a process of its own: {error}.",
            "Keep only plain values on the instance, or write execute as async def.",
        ) from error


async def _in_time(tool: Called, work: Awaitable[object], until_seconds: float) -> object:
    clock = asyncio.timeout_at(until_seconds)
    try:
        async with clock:
            return await work
    except Exception as error:
        raise (_timeout(tool, "") if clock.expired() else raised(error)) from error


def _make_workspace(context: ToolContext) -> None:
    """Make the workspace for a tool that is shown where it is; most runs never have one. Raises ToolTrouble."""
    try:
        context.workspace.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ToolTrouble(
            "workspace_unavailable",
            f"The workspace of the run cannot be made: {error.strerror} ({context.workspace}).",
            "Do without files, and say so: whoever runs outlast must see to this folder.",
        ) from error


async def _with_text(answer: Answer, context: ToolContext) -> Answer:
    if isinstance(answer, ToolResult) and isinstance(answer.data, bytes):
        return replace(answer, data=await as_text(answer.data, context.artifacts))
    return answer


def _with_printed(answer: Answer, printed: str) -> Answer:
    """What was printed is the result of a tool that returned none, and helps to understand a failure."""
    if not isinstance(answer, ToolResult) or not printed:
        return answer
    if not answer.success:
        return replace(answer, error=(answer.error or "It failed.") + _printed_note(printed))
    return replace(answer, data=printed) if answer.data is None else answer


def _timeout(tool: Called, printed: str) -> Passing:
    return Passing(
        "timeout",
        f"{tool.name} took longer than {tool.timeout_seconds:g} seconds and was ended.{_printed_note(printed)}",
        "Ask for less at once, or do without it.",
    )


def _end_in_words(ended: Ended) -> str:
    if ended.exit_code is None:
        return "The process of the tool was lost, so it is not known how far it came."
    if ended.exit_code < 0:
        return (
            f"The process of the tool was ended by {_signal_name(-ended.exit_code)} before it gave a result."
        )
    return f"The process of the tool ended with exit code {ended.exit_code} before it gave a result."


def _signal_name(number: int) -> str:
    return signal.Signals(number).name if number in {*signal.Signals} else f"signal {number}"


def _printed_note(printed: str) -> str:
    return f"\nIt had printed:\n{bound(printed, _MOST_PRINTED_BYTES).shown}" if printed.strip() else ""
