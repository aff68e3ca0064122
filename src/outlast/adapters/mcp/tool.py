"""A tool of a server, as the engine sees tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from enum import Enum
from typing import Any, Final

import mcp_types as types

from outlast.adapters.mcp.config import ServerConfig
from outlast.adapters.mcp.drivers.experimental_tasks import begin
from outlast.adapters.mcp.drivers.extension_tasks import handle_of
from outlast.adapters.mcp.drivers.kinds import EXPERIMENTAL, EXTENSION, TOOLS
from outlast.adapters.mcp.drivers.tool_tasks import handle_in
from outlast.adapters.mcp.extension import TaskBegun
from outlast.adapters.mcp.failure import UNSURE, Kind, ServerFailure
from outlast.adapters.mcp.listing import ListedTool, Listing
from outlast.adapters.mcp.results import error_text, read_result, structured_problems
from outlast.adapters.mcp.server import Server
from outlast.domain.door import Json
from outlast.domain.errors import ModelMistake, OutlastError, Passing, ToolTrouble
from outlast.domain.tool_call import Effect
from outlast.ports.background_driver import Handle
from outlast.ports.tool import Background, Retry, ToolContext, ToolResult

KEY_ARGUMENT: Final = "idempotency_key"
"""An argument of this name gets the key of the call, where the tool's schema has it and the model gave none."""


class Way(Enum):
    """How a call of a tool is made, and what may come of it."""

    PLAIN = "a result"
    MAYBE = "a result or, if the server so decides, a task"
    GROUP = "a task by a group of tools"
    EXPERIMENTAL = "an experimental task"


_DRIVERS: Final = {Way.MAYBE: EXTENSION, Way.GROUP: TOOLS, Way.EXPERIMENTAL: EXPERIMENTAL}

Problems = Callable[[Mapping[str, Any], object], list[str]]


class McpTool:
    """A tool that runs elsewhere. Its result may be anything, and is treated as such.

    Results of reading calls are not cached unless the settings say so: servers report what changes.
    """

    def __init__(self, listed: ListedTool, server: Server, problems: Problems, way: Way = Way.PLAIN) -> None:
        self.listed = listed
        self._way = way
        self._server = server
        self._problems = problems
        self.name = listed.model_name
        self.label = listed.label
        self.description = listed.description
        self.input_schema: Mapping[str, Json] = listed.input_schema
        self.output_schema: Mapping[str, Json] | None = None
        self.effect = listed.effect
        self.is_effect_declared = listed.is_effect_declared
        self.timeout_seconds = server.config.timeout_seconds
        self.retry: Retry | None = None
        self.cache_seconds = 0.0
        self.exclusive_group: str | None = None
        self.max_concurrent: int | None = None
        self.background = _background(way, server, listed.name)
        self.version = listed.version

    async def run(self, arguments: dict[str, Json], context: ToolContext) -> ToolResult | Handle:
        """Call the tool, within `timeout_seconds`; cancelled, the server is told. Work that goes on elsewhere is a handle.

        Raises Passing (`timeout`, `mcp_unavailable`, `outcome_unknown`) and ToolTrouble (`mcp_refused`, `mcp_call_failed`,
        `invalid_output`).
        """
        try:
            answer = await self._answer(self._with_key(arguments, context))
        except ServerFailure as failure:
            raise trouble_of(failure, self.effect) from failure
        if isinstance(answer, Handle):
            return answer
        if self._way is Way.GROUP and not answer.is_error:
            return handle_in(answer, self._server, self.listed.name)
        return await self._read(answer, context)

    async def _answer(self, arguments: dict[str, Json]) -> types.CallToolResult | Handle:
        name, seconds = self.listed.name, self.timeout_seconds
        if self._way is Way.EXPERIMENTAL:
            return await begin(self._server, name, arguments, seconds)
        answer = await self._server.call(name, arguments, seconds)
        if isinstance(answer, TaskBegun):
            return handle_of(answer, self._server, name)
        return answer

    def _with_key(self, arguments: dict[str, Json], context: ToolContext) -> dict[str, Json]:
        properties = self.input_schema.get("properties")
        if self.effect is Effect.READ or not isinstance(properties, dict) or KEY_ARGUMENT not in properties:
            return arguments
        return {KEY_ARGUMENT: context.idempotency_key, **arguments}

    async def _read(self, result: types.CallToolResult, context: ToolContext) -> ToolResult:
        if problems := structured_problems(result, self.listed.output_schema, self._problems):
            detail = f"What {self.name} returned does not fit its schema: {'; '.join(problems)}"
            raise ToolTrouble("invalid_output", detail, "Its server has to be mended; do without this tool.")
        try:
            reading = await read_result(result, context.artifacts)
        except ModelMistake as mistake:
            detail = f"What {self.name} returned cannot be kept. {mistake.detail}"
            raise ToolTrouble("invalid_output", detail, mistake.next_step) from mistake
        if reading.is_error:
            return ToolResult(success=False, error=error_text(reading.data))
        return ToolResult(success=True, data=reading.data)


def _background(way: Way, server: Server, name: str) -> Background | None:
    """How calls made in this way go on in the background; None where they do not."""
    if way is Way.PLAIN:
        return None
    config = server.config
    return Background(_DRIVERS[way], config.name, config.principal, always=way is not Way.MAYBE, name=name)


def way_of(tool: ListedTool, listing: Listing, config: ServerConfig) -> Way:
    """How calls of a tool are made, by the configuration and by what its server can do."""
    if any(group.submit == tool.name for group in config.task_tools):
        return Way.GROUP
    if (
        config.has_experimental_tasks
        and listing.takes_tasks
        and tool.task_support in ("optional", "required")
    ):
        return Way.EXPERIMENTAL
    return Way.MAYBE if listing.has_tasks else Way.PLAIN


class StandIn:
    """A tool of a server that could not be reached: it tries again when it is called.

    What the tool is like is not known here; a run that has begun is pinned to what it was.
    """

    is_stand_in = True

    def __init__(
        self, name: str, timeout_seconds: float, find: Callable[[], Awaitable[Mapping[str, McpTool]]]
    ) -> None:
        self._find = find
        self.name = name
        self.description = ""
        self.input_schema: Mapping[str, Json] = {"type": "object"}
        self.output_schema: Mapping[str, Json] | None = None
        self.effect = Effect.ONCE
        self.is_effect_declared = False
        self.timeout_seconds = timeout_seconds
        self.retry: Retry | None = None
        self.cache_seconds = 0.0
        self.exclusive_group: str | None = None
        self.max_concurrent: int | None = None
        self.background: Background | None = None
        self.version = ""

    async def run(self, arguments: dict[str, Json], context: ToolContext) -> ToolResult | Handle:
        """Call the tool if its server is there by now. Raises as `McpTool.run` does."""
        tool = (await self._find()).get(self.name)
        if tool is None:
            detail = f"Its server does not have the tool {self.name} any more."
            raise ToolTrouble("mcp_call_failed", detail, "Do without it, or with another tool.")
        return await tool.run(arguments, context)


def trouble_of(failure: ServerFailure, effect: Effect) -> OutlastError:
    """A failure as the engine understands it: what may be tried again is Passing.

    Where nobody knows whether a call that must not happen twice was carried out, the code is `outcome_unknown`.
    """
    told = (failure.detail, failure.next_step)
    if failure.kind is Kind.TIMEOUT:
        unknown = " Whether it was carried out is not known." if effect is Effect.ONCE else ""
        return Passing("timeout", failure.detail + unknown, failure.next_step)
    if failure.kind in UNSURE and effect is Effect.ONCE:
        return Passing("outcome_unknown", *told)
    if failure.kind is Kind.REFUSED:
        return ToolTrouble("mcp_refused", *told)
    if failure.kind in (Kind.ERROR, Kind.NONSENSE):
        return ToolTrouble("mcp_call_failed", *told)
    return Passing("mcp_unavailable", *told)
