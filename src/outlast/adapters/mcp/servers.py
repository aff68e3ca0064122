"""The servers of a process: one `Server` for each configuration, shared by all who use it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from outlast.adapters.mcp.config import ServerConfig
from outlast.adapters.mcp.drivers.experimental_tasks import ExperimentalDriver
from outlast.adapters.mcp.drivers.extension_tasks import ExtensionDriver
from outlast.adapters.mcp.drivers.kinds import EXPERIMENTAL, EXTENSION, TOOLS
from outlast.adapters.mcp.drivers.tool_tasks import ToolDriver
from outlast.adapters.mcp.failure import ServerFailure
from outlast.adapters.mcp.listing import CheckSchema, Listing
from outlast.adapters.mcp.server import Server
from outlast.adapters.mcp.tool import McpTool, Problems, StandIn, trouble_of, way_of
from outlast.domain.errors import OutlastError
from outlast.domain.tool_call import Effect
from outlast.ports.background_driver import BackgroundDriver

_DRIVERS: Final[dict[str, Callable[[Server], BackgroundDriver]]] = {
    EXTENSION: ExtensionDriver,
    TOOLS: ToolDriver,
    EXPERIMENTAL: ExperimentalDriver,
}


class McpServers:
    """Connects to servers when they are first used, each on its own: what one of them does touches no other.

    `check_schema` raises CallerMistake for what is no JSON Schema; `problems` says how a value differs from one.
    """

    def __init__(self, check_schema: CheckSchema, problems: Problems) -> None:
        self._check_schema = check_schema
        self._problems = problems
        self._servers: dict[tuple[str, str], Server] = {}

    def server(self, config: ServerConfig, effects: Mapping[str, Effect] | None = None) -> Server:
        """The server of a configuration; it is not contacted."""
        key = (config.fingerprint, repr(sorted((effects or {}).items())))
        if key not in self._servers:
            self._servers[key] = Server(config, self._check_schema, effects)
        return self._servers[key]

    async def listing(self, config: ServerConfig, effects: Mapping[str, Effect] | None = None) -> Listing:
        """What a server offers. Raises Passing (`mcp_unavailable`, `timeout`) and ToolTrouble (`mcp_refused`, `mcp_call_failed`)."""
        try:
            return await self.server(config, effects).listing()
        except ServerFailure as failure:
            raise as_error(failure) from failure

    async def tools(
        self, config: ServerConfig, effects: Mapping[str, Effect] | None = None
    ) -> dict[str, McpTool]:
        """The tools of a server for models, by their names for them: those that can be used and are no part of others.

        Raises as `listing` does.
        """
        listing = await self.listing(config, effects)
        server = self.server(config, effects)
        return {
            tool.model_name: McpTool(tool, server, self._problems, way_of(tool, listing, config))
            for tool in listing.usable()
            if tool.name not in config.hidden
        }

    def driver(self, kind: str, config: ServerConfig) -> BackgroundDriver:
        """The driver of a kind for tasks of a server. Raises KeyError for a kind that is not of MCP."""
        return _DRIVERS[kind](self.server(config))

    def stand_in(
        self, name: str, config: ServerConfig, effects: Mapping[str, Effect] | None = None
    ) -> StandIn:
        """What stands for a tool while its server cannot be reached."""
        return StandIn(name, config.timeout_seconds, partial(self.tools, config, effects))

    async def close(self) -> None:
        """Close all connections, side by side. Safe to call twice."""
        closing: list[Any] = [asyncio.ensure_future(server.close()) for server in self._servers.values()]
        self._servers.clear()
        if closing:
            await asyncio.wait(closing)


def as_error(failure: ServerFailure) -> OutlastError:
    """A failure to list as an error of ours; asking for a list may always be repeated."""
    return trouble_of(failure, Effect.READ)
