"""From what a person wrote - a class, an instance, a function - to the one form the engine runs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any, Final

from outlast.adapters.execution.call import CallInChild, CallInLoop
from outlast.adapters.execution.child import Children
from outlast.adapters.execution.docstring import summary_of
from outlast.adapters.execution.outcome import Answer
from outlast.adapters.execution.revive import plain_json
from outlast.adapters.execution.schema_from_hints import input_schema_of, parameters
from outlast.adapters.execution.validation import compiled
from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json, canonical_json, digest_of
from outlast.domain.errors import CallerMistake
from outlast.domain.tool_call import Effect
from outlast.ports.tool import (
    DECLARATION_ATTRIBUTE,
    Background,
    BaseTool,
    Retry,
    Tool,
    ToolContext,
    ToolDeclaration,
)

DEFAULT_TIMEOUT_SECONDS: Final = 30.0
"""How long a tool may run that declares nothing else."""

BACKGROUND_TIMEOUT_SECONDS: Final = 7 * 86_400.0
"""How long a tool may run in the background that declares nothing else."""

TIMEOUT_SECONDS_BY_NAME: Final[Mapping[str, float]] = {
    "web_search": 20.0,
    "web_fetch": 20.0,
    "run_code": 60.0,
}
"""The tools whose default differs."""

LOCAL_DRIVER: Final = "local"
"""The driver of tools of ours that are declared to run in the background."""

CACHE_SECONDS: Final = 300.0
"""How long the result of a `read` call may be given again, when the tool says nothing else."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(slots=True, kw_only=True)
class BoundTool:
    """A tool as the engine sees it; `run` keeps `timeout_seconds` itself.

    `run` raises Passing: `timeout` when the time is over, with what had been printed, and `tool_failed` for whatever
    else a tool lets out of `execute`; outlast's own errors come as they are. The fields may be replaced by settings
    before the first call.
    """

    name: str
    description: str
    input_schema: Mapping[str, Json]
    output_schema: Mapping[str, Json] | None
    effect: Effect
    is_effect_declared: bool
    timeout_seconds: float
    retry: Retry | None
    cache_seconds: float
    exclusive_group: str | None
    max_concurrent: int | None
    version: str
    background: Background | None
    call: Callable[[BoundTool, dict[str, Json], ToolContext], Awaitable[Answer]]

    async def run(self, arguments: dict[str, Json], context: ToolContext) -> Answer:
        """Do the work with valid arguments. Leaves no process of a plain function running when cancelled."""
        return await self.call(self, arguments, context)


def bind(declared: object, children: Children | None = None) -> Tool:
    """The tool that `declared` describes: a subclass of BaseTool, an instance of one, or a function.

    `async def` runs in the event loop, a plain `def` in a process of `children` (this process's own unless
    given). Raises CallerMistake (`invalid_tool`, `invalid_tool_schema`) that says what to correct.
    """
    function, given = _parts(declared)
    name = given.name or function.__name__
    if not _NAME.fullmatch(str(name)):
        raise _invalid(repr(name), "a name has 1 to 64 letters, digits, _ and -", "Rename it.")
    input_schema = _input_schema(name, function, given)
    output_schema = None if given.output_schema is None else plain_json(given.output_schema)
    if output_schema is not None:
        compiled(output_schema)
    effect = _effect(name, given.effect)
    is_async = inspect.iscoroutinefunction(function)
    return BoundTool(
        name=name,
        description=_description(name, given, function),
        input_schema=input_schema,
        output_schema=output_schema,
        effect=effect,
        is_effect_declared=given.effect is not None,
        timeout_seconds=_timeout_seconds(name, given.timeout_seconds, is_background=bool(given.background)),
        retry=given.retry,
        cache_seconds=CACHE_SECONDS if given.cache_seconds is None else given.cache_seconds,
        exclusive_group=given.exclusive_group,
        max_concurrent=given.max_concurrent,
        background=Background(LOCAL_DRIVER, name) if given.background else None,
        version=digest_of(canonical_json([name, input_schema, output_schema, effect, _source(declared)])),
        call=CallInLoop(function) if is_async else CallInChild(declared, function, children),
    )


def _parts(declared: object) -> tuple[Callable[..., Any], ToolDeclaration]:
    """The function that does the work, and what was declared about it."""
    if isinstance(declared, type) and issubclass(declared, BaseTool):
        return _parts(_made(declared))
    if isinstance(declared, BaseTool):
        given = {field.name: getattr(declared, field.name, None) for field in fields(ToolDeclaration)}
        given["name"] = given["name"] or type(declared).__name__
        given["description"] = given["description"] or type(declared).__doc__
        return declared.execute, ToolDeclaration(**given)
    if inspect.isroutine(declared):
        return declared, getattr(declared, DECLARATION_ATTRIBUTE, ToolDeclaration())
    raise _invalid(repr(declared), "it is no subclass of BaseTool and no function", "See `outlast.tools`.")


def _made(declared: type[BaseTool]) -> BaseTool:
    if declared.execute is BaseTool.execute:
        raise _invalid(declared.__name__, "it defines no execute()", "Write `async def execute(self, ...)`.")
    try:
        return declared()
    except TypeError as error:
        raise _invalid(
            declared.__name__,
            f"it cannot be made without arguments ({error})",
            "Register an instance of it instead.",
        ) from error


def _input_schema(name: str, function: Callable[..., Any], given: ToolDeclaration) -> dict[str, Any]:
    schema: dict[str, Any]
    if given.input_schema is None:
        schema = input_schema_of(function)
    else:
        schema = {"type": "object", **plain_json(given.input_schema)}
        if schema["type"] != "object":
            raise _invalid(
                name,
                f"its input_schema is of type {schema['type']}",
                'Arguments are an object: "type": "object".',
            )
        _match_parameters(name, function, schema)
    compiled(schema)
    return schema


def _match_parameters(name: str, function: Callable[..., Any], schema: dict[str, Any]) -> None:
    """Refuse a schema that promises arguments `execute` does not take; close it where `execute` takes no others."""
    taken = {one.name: one for one in parameters(function)}
    if any(one.kind is one.VAR_KEYWORD for one in taken.values()):
        return
    offered = schema.get("properties", {})
    if unknown := [one for one in offered if one not in taken]:
        raise _invalid(
            name, f"its schema has {unknown}, which execute() does not take", "Make the two agree."
        )
    sure = {*schema.get("required", ()), *(one for one in offered if "default" in offered[one])}
    needed = [one.name for one in taken.values() if one.default is one.empty and one.name not in sure]
    if needed and not {"allOf", "anyOf", "oneOf", "$ref"} & set(schema):
        raise _invalid(
            name, f"execute() needs {needed}, which its schema does not require", "Make the two agree."
        )
    if set(schema) <= {"type", "properties", "required", "title", "description", "$defs", "$schema"}:
        schema["additionalProperties"] = False


def _description(name: str, given: ToolDeclaration, function: Callable[..., Any]) -> str:
    text = inspect.cleandoc(given.description or "") or summary_of(function)
    if not text:
        raise _invalid(
            name, "it has no description", "Say what it does in `description` or in the docstring."
        )
    return text


def _effect(name: str, declared: str | None) -> Effect:
    try:
        return Effect.ONCE if declared is None else Effect(declared)
    except ValueError as error:
        raise _invalid(name, f"its effect is {declared!r}", "Use read, idempotent or once.") from error


def _timeout_seconds(name: str, declared: float | None, *, is_background: bool) -> float:
    usual = BACKGROUND_TIMEOUT_SECONDS if is_background else DEFAULT_TIMEOUT_SECONDS
    seconds = TIMEOUT_SECONDS_BY_NAME.get(name, usual) if declared is None else float(declared)
    if not seconds > 0:
        raise _invalid(name, f"its timeout_seconds is {seconds}", "Give a number of seconds above 0.")
    return seconds


def _source(declared: object) -> str:
    """The source code, so that an edited tool is another version; empty where there is none to read."""
    target: Any = type(declared) if isinstance(declared, BaseTool) else declared
    return _source_of(target)


@lru_cache(maxsize=64)
def _source_of(target: Any) -> str:
    """Kept, since Python parses the whole file to find a class in it; what is loaded anew is another object."""
    try:
        return inspect.getsource(target)
    except (OSError, TypeError):
        return ""


def _invalid(name: str, what: str, next_step: str) -> CallerMistake:
    return CallerMistake("invalid_tool", f"The tool {name} cannot be used: {what}.", next_step)
