"""The tools a server has: all its pages read within bounds, each tool made usable or left out with a reason."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, Final

import mcp_types as types

from outlast.adapters.mcp.schemas import argument_schema, result_schema
from outlast.adapters.mcp.tap import RAW_TOOL
from outlast.domain.bounded import bound
from outlast.domain.dataclass import dataclass
from outlast.domain.door import Json, canonical_json, clean_text, digest_of
from outlast.domain.errors import CallerMistake
from outlast.domain.tool_call import Effect
from outlast.domain.tool_names import listed_name, model_name

MOST_PAGES: Final = 100
MOST_TOOLS: Final = 1_000
MOST_DESCRIPTION_BYTES: Final = 4_000

_IDLE_PAGES: Final = 2
_MOST_NAME: Final = 256

NextPage = Callable[[str | None], Awaitable[types.ListToolsResult]]
CheckSchema = Callable[[Mapping[str, Any]], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    """A tool as its server describes it; `problem` says why it cannot be used, where it cannot.

    `name` is the server's own, `model_name` the one for models. `version` changes with everything a model is told of it.
    """

    server: str
    name: str
    model_name: str
    description: str = ""
    input_schema: Mapping[str, Json] = field(default_factory=dict)
    output_schema: Mapping[str, Json] | None = None
    effect: Effect = Effect.ONCE
    is_effect_declared: bool = False
    version: str = ""
    task_support: str = "forbidden"
    problem: str | None = None

    @property
    def label(self) -> str:
        """`server:tool`."""
        return listed_name(self.server, self.name)


@dataclass(frozen=True, slots=True)
class Listing:
    """The tools of a server, in its order, and what was wrong with the list as a whole.

    `has_tasks` says that the server may answer calls with tasks, `takes_tasks` that it can be asked for experimental ones.
    """

    tools: tuple[ListedTool, ...]
    problems: tuple[str, ...] = ()
    has_tasks: bool = False
    takes_tasks: bool = False

    def usable(self) -> list[ListedTool]:
        """The tools that can be offered."""
        return [tool for tool in self.tools if tool.problem is None]


async def read_pages(next_page: NextPage) -> tuple[list[dict[str, Any]], list[str]]:
    """Every tool as it was sent, once a name, and what was wrong with the paging.

    An empty cursor ends the list; one that came before, pages that bring nothing new and too many of anything end it with a word.
    """
    found: dict[str, dict[str, Any]] = {}
    cursor: str | None = None
    seen: set[str] = set()
    idle = 0
    for _ in range(MOST_PAGES):
        page = await next_page(cursor)
        before = len(found)
        for tool in page.tools:
            found.setdefault(tool.name, (tool.meta or {}).get(RAW_TOOL) or {"name": tool.name})
        idle = 0 if len(found) > before else idle + 1
        cursor = page.next_cursor
        if len(found) > MOST_TOOLS:
            return list(found.values())[:MOST_TOOLS], [
                f"it lists more than {MOST_TOOLS} tools; the rest is left out"
            ]
        if not cursor:
            return list(found.values()), []
        if cursor in seen or idle >= _IDLE_PAGES:
            return list(found.values()), ["its list of tools goes round in circles and was ended"]
        seen.add(cursor)
    return list(found.values()), [f"its list of tools has more than {MOST_PAGES} pages; the rest is left out"]


def listed(
    server: str, sent: Iterable[Mapping[str, Any]], effects: Mapping[str, Effect], check_schema: CheckSchema
) -> tuple[ListedTool, ...]:
    """The tools as they were sent, made usable. `effects` are those the configuration states; they win over the server's own."""
    made: dict[str, ListedTool] = {}
    for tool in sent:
        one = _listed(server, tool, effects, check_schema)
        if one.model_name in made:
            one = _unusable(
                server, one.name, f"its name cannot be told from that of {made[one.model_name].name}"
            )
            made[f"{one.model_name} {len(made)}"] = one
        else:
            made[one.model_name] = one
    return tuple(made.values())


def _listed(
    server: str, sent: Mapping[str, Any], effects: Mapping[str, Effect], check_schema: CheckSchema
) -> ListedTool:
    name = clean_text(str(sent.get("name", "")))
    if not name or len(name) > _MOST_NAME:
        return _unusable(server, name[:_MOST_NAME], "it has no usable name")
    try:
        schema = argument_schema(sent.get("inputSchema"))
        check_schema(schema)
    except ValueError as error:
        return _unusable(server, name, str(error))
    except CallerMistake as mistake:
        return _unusable(server, name, mistake.detail)
    output = _checked_output(sent.get("outputSchema"), check_schema)
    effect, is_declared = effect_of(sent.get("annotations"), effects.get(name))
    description = _description(server, name, sent)
    execution = sent.get("execution")
    return ListedTool(
        server=server,
        name=name,
        model_name=model_name(server, name),
        description=description,
        input_schema=schema,
        output_schema=output,
        effect=effect,
        is_effect_declared=is_declared,
        version=digest_of(canonical_json([name, description, schema, output, str(effect)])),
        task_support=str(execution.get("taskSupport", "forbidden"))
        if isinstance(execution, Mapping)
        else "forbidden",
    )


def effect_of(annotations: object, stated: Effect | None) -> tuple[Effect, bool]:
    """The effect of a tool, and whether anybody declared it."""
    if stated is not None:
        return stated, True
    hints = annotations if isinstance(annotations, Mapping) else {}
    if hints.get("readOnlyHint") is True:
        return Effect.READ, True
    if hints.get("idempotentHint") is True:
        return Effect.IDEMPOTENT, True
    return Effect.ONCE, hints.get("readOnlyHint") is False and hints.get("idempotentHint") is False


def _description(server: str, name: str, sent: Mapping[str, Any]) -> str:
    text = sent.get("description") or sent.get("title") or f"The tool {name} of the MCP server {server}."
    return bound(clean_text(str(text)), MOST_DESCRIPTION_BYTES).shown


def _checked_output(sent: object, check_schema: CheckSchema) -> dict[str, Json] | None:
    schema = result_schema(sent)
    if schema is None:
        return None
    try:
        check_schema(schema)
    except CallerMistake:
        return None
    return schema


def _unusable(server: str, name: str, problem: str) -> ListedTool:
    return ListedTool(server=server, name=name, model_name=model_name(server, name), problem=problem)
