"""What every tool promises, as tests to inherit.

class TestMyTool(ToolContract):
    @pytest.fixture
    def subject(self, tmp_path: Path) -> ToolSubject:
        return ToolSubject.of(MyTool, {"text": "a"}, tool_context(tmp_path))
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import jsonschema_rs
import pytest

from outlast.adapters.execution.binding import bind
from outlast.adapters.execution.validation import check_arguments
from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json, stored_form
from outlast.domain.errors import Passing, ToolTrouble
from outlast.domain.tool_call import Effect, ToolError
from outlast.ports.tool import Ask, Draft, Tool, ToolContext, ToolResult

_PATIENCE_SECONDS = 30.0
_HEAD_START_SECONDS = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSubject:
    """The tool under test, a context to call it in, and arguments it accepts, defaults filled in."""

    tool: Tool
    context: ToolContext
    arguments: dict[str, Json]

    @classmethod
    def of(cls, declared: object, arguments: dict[str, Json], context: ToolContext) -> Self:
        """The subject for a tool as it is written: a class, an instance or a decorated function.

        Raises CallerMistake (`invalid_tool`) for what is no tool, ValueError for arguments that it does not accept.
        """
        tool = bind(declared)
        filled = check_arguments(tool, arguments)
        if isinstance(filled, ToolError):
            raise ValueError(f"{tool.name} does not accept these arguments: {'; '.join(filled.problems)}")
        return cls(tool=tool, context=context, arguments=filled)


class ToolContract:
    """Inherit, and give a fixture `subject`."""

    pytestmark = pytest.mark.asyncio

    async def test_declaration_is_complete(self, subject: ToolSubject) -> None:
        tool = subject.tool
        assert tool.name
        assert len(tool.description) > 10
        assert isinstance(tool.effect, Effect)
        assert tool.is_effect_declared
        assert tool.timeout_seconds > 0
        assert tool.cache_seconds >= 0
        assert tool.version

    async def test_schema_describes_an_object_that_takes_the_arguments(self, subject: ToolSubject) -> None:
        schema = subject.tool.input_schema
        assert schema["type"] == "object"
        assert stored_form(dict(schema)) == schema
        _check(schema, subject.arguments)

    async def test_defaults_fit_their_own_schemas(self, subject: ToolSubject) -> None:
        for part in _with_default(subject.tool.input_schema):
            _check({key: value for key, value in part.items() if key != "default"}, part["default"])

    async def test_answers_or_refuses_cleanly(self, subject: ToolSubject) -> None:
        answer: object
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                answer = await subject.tool.run(dict(subject.arguments), subject.context)
        except (ToolTrouble, Passing) as trouble:
            answer = trouble
        _check_answer(subject.tool, answer)

    async def test_leaves_nothing_running_when_cancelled(self, subject: ToolSubject) -> None:
        await self.test_answers_or_refuses_cleanly(subject)
        processes, tasks = _descendants(), asyncio.all_tasks()
        calling = asyncio.ensure_future(subject.tool.run(dict(subject.arguments), subject.context))
        await asyncio.wait({calling}, timeout=_HEAD_START_SECONDS)
        calling.cancel()
        await asyncio.wait({calling}, timeout=_PATIENCE_SECONDS)
        assert calling.done()
        assert asyncio.all_tasks() <= tasks
        await _until_gone(processes)


async def _until_gone(others: set[int]) -> None:
    """Wait, with a bound, until no descendants but `others` are left."""
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while not _descendants() <= others:  # noqa: ASYNC110 - the end of a grandchild is no event here
            await asyncio.sleep(0.01)


def _descendants() -> set[int]:
    """The processes below this one, as far as /proc shows them."""
    parents = dict(_parents())
    found = {os.getpid()}
    while True:
        more = {process for process, parent in parents.items() if parent in found} - found
        if not more:
            return found - {os.getpid()}
        found |= more


def _parents() -> Iterator[tuple[int, int]]:
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            yield int(entry.name), int((entry / "stat").read_text().rpartition(")")[2].split()[1])


def _check_answer(tool: Tool, answer: object) -> None:
    assert isinstance(answer, ToolResult | Ask | Draft | ToolTrouble | Passing)
    if isinstance(answer, ToolTrouble | Passing):
        assert answer.code
        assert answer.detail
    elif isinstance(answer, Ask):
        assert answer.question
    elif isinstance(answer, Draft):
        stored_form(answer.content)
    elif answer.success:
        assert answer.error is None
        assert stored_form(answer.data) == answer.data
        if tool.output_schema is not None:
            _check(tool.output_schema, answer.data)
    else:
        assert answer.error


def _check(schema: Mapping[str, Json], value: object) -> None:
    jsonschema_rs.validator_for(dict(schema)).validate(value)


def _with_default(schema: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(schema, Mapping):
        if "default" in schema:
            yield schema
        for part in schema.values():
            yield from _with_default(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _with_default(part)
