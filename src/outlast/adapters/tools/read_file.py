"""`read_file`: read a file of the workspace."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any, ClassVar

from outlast.adapters.tools.text_window import WINDOW_PROPERTIES, is_binary, window
from outlast.adapters.tools.workspace_paths import confined, open_for_reading
from outlast.domain.errors import ToolTrouble
from outlast.ports.tool import BaseTool, ToolContext, ToolResult


class ReadFile(BaseTool):
    """Shows a window of a text file."""

    name = "read_file"
    description = (
        "Read a text file of the workspace. "
        "A long file comes in parts: call again with the next_offset of the last answer."
    )
    input_schema: ClassVar = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1, "description": "Relative to the workspace."},
            **WINDOW_PROPERTIES,
        },
        "required": ["path"],
        "additionalProperties": False,
    }
    effect = "read"
    cache_seconds = 0  # the run writes to its workspace itself

    async def execute(self, path: str, offset: int, limit: int, context: ToolContext) -> ToolResult:
        """The window as text. Raises ToolTrouble (`path_refused`, `not_found`, `not_a_file`, `binary`)."""
        data = await asyncio.to_thread(_read, context.workspace, path, offset, limit)
        return ToolResult(success=True, data=data)


def _read(workspace: Path, named: str, offset: int, limit: int) -> dict[str, Any]:
    with open_for_reading(confined(workspace, named), named) as file:
        size_bytes = os.fstat(file.fileno()).st_size
        if is_binary(file.read(8000)):
            raise ToolTrouble(
                "binary", f"{named} is binary, {size_bytes} bytes.", "Use a tool that knows its format."
            )
        file.seek(offset)
        return {"path": named, **window(file.read(limit + 4), offset, limit, size_bytes)}
