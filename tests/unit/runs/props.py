"""Tools on stage."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from outlast.domain.source import Found
from outlast.ports.tool import ReadSource, ToolResult, tool


@tool(effect="read", cache_seconds=0)
async def page(url: str) -> ToolResult:
    """Read a page. Its text says which page it is."""
    text = f"This is the page {url}.\nIt says that {url} is so."
    return ToolResult(True, text, read=[ReadSource(url, f"Title of {url}", text)])


@tool(effect="read", cache_seconds=0)
async def find(query: str) -> ToolResult:
    """Find the page of a query."""
    return ToolResult(True, f"http://x/{query}", found=[Found(f"http://x/{query}", query, query)])


SENT: list[str] = []
"""To whom mails went, in order."""


@tool(effect="once")
async def mail(to: str) -> str:
    """Send a mail."""
    SENT.append(to)
    return f"sent to {to}"


def once_tool(name: str, work: Callable[[], Awaitable[object]], **declared: object) -> object:
    """A tool without arguments that does `work`."""

    async def execute() -> object:
        return await work()

    return tool(name=name, description=f"Do {name}", **declared)(execute)
