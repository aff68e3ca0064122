"""What a tool is written with: `from outlast.tools import BaseTool, ToolResult, tool`."""

from outlast.domain.errors import ToolTrouble
from outlast.domain.source import Found
from outlast.domain.tool_call import Effect
from outlast.ports.background_driver import Handle
from outlast.ports.tool import Ask, BaseTool, Draft, ReadSource, Retry, ToolContext, ToolResult, tool

__all__ = [
    "Ask",
    "BaseTool",
    "Draft",
    "Effect",
    "Found",
    "Handle",
    "ReadSource",
    "Retry",
    "ToolContext",
    "ToolResult",
    "ToolTrouble",
    "tool",
]
