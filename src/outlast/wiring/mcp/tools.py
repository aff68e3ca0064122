"""The tools of MCP servers for the tasks that name them: found, given names, loaded; nothing is contacted that no task names."""

from __future__ import annotations

import asyncio
import difflib
import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from outlast.adapters.execution.validation import compiled, problems_in
from outlast.adapters.mcp.config import ServerConfig
from outlast.domain.errors import CallerMistake, OutlastError
from outlast.domain.task import TaskDefinition
from outlast.domain.tool_call import Effect
from outlast.domain.tool_names import EVERY, listed_name, may_be_of, split_name
from outlast.ports.background_driver import BackgroundDriver
from outlast.ports.tool import Tool
from outlast.wiring.adapters import MCP_SERVERS, symbol
from outlast.wiring.discover import ToolEntry
from outlast.wiring.mcp.configured import config_of, effects_of, place_of
from outlast.wiring.mcp.names import renamed
from outlast.wiring.settings.tree import Settings

ORIGIN: Final = "mcp"


class McpTools:
    """The MCP servers of this process, whatever configurations of them runs are pinned to."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ
        self._made: Any = None

    async def settled(
        self, definition: TaskDefinition, settings: Settings, known: Collection[str] = ()
    ) -> TaskDefinition:
        """The definition with every `server:tool` and `server:*` in it exchanged for the names models are given.

        `settings` are those the run is pinned to, `known` all servers there are, to suggest one for a name that is none.
        From then on the run has these tools and no others, whatever their servers add. Raises CallerMistake: `unknown_tool`,
        `mcp_server_unavailable`, `extra_missing`, `missing_variable`.
        """
        named = [split for name in definition.tools if (split := split_name(name))]
        if not named:
            return definition
        offered = {
            server: await self._offered(server, settings, known)
            for server in dict.fromkeys(one for one, _ in named)
        }
        return renamed(definition, offered)

    async def load(self, names: Iterable[str], settings: Settings) -> dict[str, Tool]:
        """The tools of these names that servers have; of a server that cannot be reached now, stand-ins that try again.

        Raises CallerMistake (`extra_missing`, `missing_variable`).
        """
        found: dict[str, Tool] = {}
        for name in names:
            for server in settings.mcp_servers:
                if name not in found and may_be_of(server, name):
                    tool = await self._tool(server, name, settings)
                    found |= {name: tool} if tool is not None else {}
        return found

    async def entries(self, settings: Settings) -> list[ToolEntry]:
        """Every tool of every server, all asked side by side; a server that cannot be asked is one entry that says why."""
        asked = [self._entries(name, settings) for name in settings.mcp_servers]
        return [entry for entries in await asyncio.gather(*asked) for entry in entries]

    def driver(self, kind: str, server: str, settings: Settings) -> BackgroundDriver:
        """The driver of a kind for tasks of a configured server. Raises CallerMistake (`extra_missing`, `missing_variable`)."""
        driver: BackgroundDriver = self._servers.driver(kind, config_of(server, settings, self._environ))
        return driver

    async def close(self) -> None:
        """Close every connection. Safe to call twice."""
        if self._made is not None:
            await self._made.close()

    @property
    def _servers(self) -> Any:
        if self._made is None:
            try:
                self._made = symbol(MCP_SERVERS)(compiled, problems_in)
            except ModuleNotFoundError as error:
                raise CallerMistake(
                    "extra_missing",
                    f"mcp_servers need a library that is not installed ({error.name}).",
                    "Install it with: pip install 'outlast[mcp]'",
                ) from error
        return self._made

    async def _offered(self, server: str, settings: Settings, known: Collection[str]) -> dict[str, str]:
        """The names for models of a server's usable tools, by the server's own; those that cannot be used say why in their place."""
        if server not in settings.mcp_servers:
            near = difflib.get_close_matches(server, known, n=1)
            guess = f" Did you mean {near[0]}?" if near else ""
            raise CallerMistake(
                "unknown_tool", f"There is no MCP server {server}.{guess}", "Name one of mcp_servers."
            )
        try:
            tools = await self._servers.tools(*self._asked(server, settings))
        except CallerMistake:
            raise
        except OutlastError as error:
            raise CallerMistake("mcp_server_unavailable", error.detail, error.next_step) from error
        return {tool.listed.name: name for name, tool in tools.items()}

    async def _tool(self, server: str, name: str, settings: Settings) -> Tool | None:
        asked = self._asked(server, settings)
        try:
            tools: dict[str, Tool] = await self._servers.tools(*asked)
        except CallerMistake:
            raise
        except OutlastError:
            stand_in: Tool = self._servers.stand_in(name, *asked)
            return stand_in
        return tools.get(name)

    async def _entries(self, server: str, settings: Settings) -> list[ToolEntry]:
        try:
            listing = await self._servers.listing(*self._asked(server, settings))
        except OutlastError as error:
            where = place_of(settings.mcp_servers[server])
            problem = f"{error.detail} {error.next_step}".strip()
            return [
                ToolEntry(listed_name(server, EVERY), None, ORIGIN, where, server=server, problem=problem)
            ]
        where = place_of(settings.mcp_servers[server])
        return [
            ToolEntry(
                tool.label,
                str(tool.effect) if tool.is_effect_declared else None,
                ORIGIN,
                where,
                server=server,
                model_name=tool.model_name,
                problem=tool.problem,
            )
            for tool in listing.tools
        ]

    def _asked(self, server: str, settings: Settings) -> tuple[ServerConfig, dict[str, Effect]]:
        return config_of(server, settings, self._environ), effects_of(server, settings)


def is_stand_in(tool: Tool) -> bool:
    """Does this stand for a tool of a server that could not be reached?"""
    return bool(getattr(tool, "is_stand_in", False))


def label_of(tool: Tool) -> str:
    """The name people use for a tool: `server:tool` for that of a server."""
    return str(getattr(tool, "label", tool.name))
