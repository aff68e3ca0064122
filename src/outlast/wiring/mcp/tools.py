"""The tools of MCP servers for the tasks that name them: found, given names, loaded; nothing is contacted that no task names."""

from __future__ import annotations

import asyncio
import difflib
import os
from collections.abc import Callable, Collection, Iterable, Mapping
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

Having = Callable[[Iterable[str]], Collection[str]]
"""Says which of some names there are tools of that come from no server."""


class McpTools:
    """The MCP servers of this process, whatever configurations of them runs are pinned to."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ
        self._made: Any = None

    async def settled(
        self, definition: TaskDefinition, settings: Settings, known: Collection[str], having: Having
    ) -> tuple[TaskDefinition, dict[str, Tool]]:
        """The definition with every `server:tool` and `server:*` in it exchanged for the names models are given, and the tools of
        servers by those names, all from the same lists.

        `settings` are those the run is pinned to, `known` all servers there are, to suggest one for a name that is none.
        From then on the run has these tools and no others, whatever their servers add. Raises CallerMistake: `unknown_tool`,
        `mcp_server_unavailable`, `extra_missing`, `missing_variable`.
        """
        named = [split for name in definition.tools if (split := split_name(name))]
        if not named and not settings.mcp_servers:
            return definition, {}
        servers = dict.fromkeys(one for one, _ in named)
        asked = [self._offered(server, settings, known) for server in servers]
        offered = dict(zip(servers, await asyncio.gather(*asked), strict=True))
        own_names = {
            server: {tool.listed.name: name for name, tool in tools.items()}
            for server, tools in offered.items()
        }
        result = renamed(definition, own_names)
        found: dict[str, Tool] = {name: tool for tools in offered.values() for name, tool in tools.items()}
        found |= await self.load([name for name in result.tools if name not in found], settings, having)
        if missing := [name for name in result.tools if name in found and is_stand_in(found[name])]:
            detail = f"The tool {missing[0]} cannot be had from its MCP server now."
            raise CallerMistake(
                "mcp_server_unavailable", detail, "`outlast tools list` shows what the servers have."
            )
        return result, found

    async def load(self, names: Iterable[str], settings: Settings, having: Having) -> dict[str, Tool]:
        """The tools of these names that servers have.

        For a tool whose server cannot be reached now, or does not list it any more, there is a stand-in that tries again, unless
        there is another tool of that name: `having` tells. Raises CallerMistake (`extra_missing`, `missing_variable`).
        """
        asked = {
            name: servers
            for name in names
            if (servers := [server for server in settings.mcp_servers if may_be_of(server, name)])
        }
        if not asked:
            return {}
        others, wanted = having(asked), {server for servers in asked.values() for server in servers}
        listed = dict(
            zip(wanted, await asyncio.gather(*(self._there(one, settings) for one in wanted)), strict=True)
        )
        found: dict[str, Tool] = {}
        for name, servers in asked.items():
            away = [server for server in servers if listed[server] is None]
            tools = [known[name] for server in servers if name in (known := listed[server] or {})]
            if tools:
                found[name] = tools[0]
            elif name not in others:
                found[name] = self._servers.stand_in(name, *self._asked((away or servers)[0], settings))
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

    async def _offered(self, server: str, settings: Settings, known: Collection[str]) -> dict[str, Any]:
        """A server's usable tools by their names for models."""
        if server not in settings.mcp_servers:
            near = difflib.get_close_matches(server, known, n=1)
            guess = f" Did you mean {near[0]}?" if near else ""
            raise CallerMistake(
                "unknown_tool", f"There is no MCP server {server}.{guess}", "Name one of mcp_servers."
            )
        try:
            tools: dict[str, Any] = await self._servers.tools(*self._asked(server, settings))
        except CallerMistake:
            raise
        except OutlastError as error:
            raise CallerMistake("mcp_server_unavailable", error.detail, error.next_step) from error
        return tools

    async def _there(self, server: str, settings: Settings) -> dict[str, Tool] | None:
        """A server's tools by their names for models; None while it cannot be asked."""
        try:
            tools: dict[str, Tool] = await self._servers.tools(*self._asked(server, settings))
        except CallerMistake:
            raise
        except OutlastError:
            return None
        return tools

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
    """Does this stand for a tool that its server could not be asked for, or did not list?"""
    return bool(getattr(tool, "is_stand_in", False))


def label_of(tool: Tool) -> str:
    """The name people use for a tool: `server:tool` for that of a server."""
    return str(getattr(tool, "label", tool.name))
