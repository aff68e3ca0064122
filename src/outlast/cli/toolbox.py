"""The tools a configuration knows, without anything else of an engine."""

from __future__ import annotations

import asyncio
import os

from outlast.domain.errors import CallerMistake
from outlast.wiring.discover import LATER, ToolCatalogue, ToolEntry
from outlast.wiring.mcp.tools import McpTools
from outlast.wiring.settings.load import load
from outlast.wiring.settings.tree import Settings


def catalogue_of(settings: Settings) -> ToolCatalogue:
    """The tools there are under these settings."""
    paths = tuple(settings.path(path, os.environ) for path in settings.tools.paths)
    return ToolCatalogue(paths, mcp_servers=settings.mcp_servers.keys())


def server_tools(settings: Settings) -> list[ToolEntry]:
    """The tools of the MCP servers of these settings, each server asked now; one that does not answer is an entry that says why."""
    return asyncio.run(listed_tools(settings))


async def listed_tools(settings: Settings) -> list[ToolEntry]:
    """As `server_tools`, from within a loop."""
    tools = McpTools()
    try:
        return await tools.entries(settings)
    finally:
        await tools.close()


def known_tools(config: str | None) -> frozenset[str] | None:
    """The names a task may use; None where the configuration or the tools cannot be read, which others tell."""
    try:
        return frozenset(entry.name for entry in catalogue_of(load(config)).list()) | LATER
    except CallerMistake:
        return None
