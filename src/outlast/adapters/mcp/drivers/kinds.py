"""The names of the drivers, as handles keep them."""

from __future__ import annotations

from typing import Final

EXTENSION: Final = "mcp_tasks"
"""The tasks extension (SEP-2663): the server decides call by call."""

TOOLS: Final = "mcp_tools"
"""Ordinary tools that are configured to be a background task together."""

EXPERIMENTAL: Final = "mcp_experimental"
"""The older, experimental tasks (SEP-1686), where the configuration allows them."""
