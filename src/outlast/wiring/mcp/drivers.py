"""The drivers of tasks on the MCP servers of this process's own configuration."""

from __future__ import annotations

from typing import Final

from outlast.adapters.mcp.drivers.kinds import EXPERIMENTAL, EXTENSION, TOOLS
from outlast.domain.errors import CallerMistake
from outlast.ports.background_driver import BackgroundDriver, Trouble
from outlast.wiring.mcp.tools import McpTools
from outlast.wiring.settings.tree import Settings

KINDS: Final = (EXTENSION, TOOLS, EXPERIMENTAL)
"""The kinds of tasks that MCP servers have."""


class McpDrivers:
    """Finds drivers for tasks of the configured servers, over the connections that runs use too."""

    def __init__(self, tools: McpTools, settings: Settings) -> None:
        self._tools = tools
        self._settings = settings

    async def driver_for(self, driver: str, server: str) -> BackgroundDriver | Trouble:
        """See `BackgroundDrivers.driver_for`."""
        if server not in self._settings.mcp_servers:
            return Trouble(
                "mcp_server_unknown",
                f"The task is on the MCP server {server}, which this configuration does not have.",
                f"Put mcp_servers.{server} back until its tasks have ended.",
                passing=False,
            )
        try:
            return self._tools.driver(driver, server, self._settings)
        except CallerMistake as mistake:
            return Trouble(mistake.code, mistake.detail, mistake.next_step, passing=False)
