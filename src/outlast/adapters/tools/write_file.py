"""`write_file`: write a file of the workspace, all of it or nothing."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from typing import ClassVar

from outlast.adapters.tools.workspace_paths import confined
from outlast.domain.door import clean_text
from outlast.domain.errors import ToolTrouble
from outlast.ports.tool import BaseTool, ToolContext, ToolResult


class WriteFile(BaseTool):
    """Replaces a file in one step, so that a crash leaves the old one or the new one."""

    name = "write_file"
    description = (
        "Write a text file of the workspace, replacing one that is there. Folders are made as needed."
    )
    input_schema: ClassVar = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1, "description": "Relative to the workspace."},
            "content": {"type": "string", "description": "All of the file."},
        },
        "required": ["path", "content"],
        "additionalProperties": False,
    }
    effect = "idempotent"

    async def execute(self, path: str, content: str, context: ToolContext) -> ToolResult:
        """Path and size of the file. Raises ToolTrouble (`path_refused`, `not_written`)."""
        data = clean_text(content).encode("utf-8")
        await asyncio.to_thread(_write, context.workspace, path, data)
        return ToolResult(success=True, data={"path": path, "size_bytes": len(data)})


def _write(workspace: Path, named: str, data: bytes) -> None:
    target = confined(workspace, named)
    if target == workspace.resolve() or target.is_dir():
        raise ToolTrouble("not_written", f"{named} is a folder.", "Name a file inside it.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, data)
    except OSError as error:
        raise ToolTrouble(
            "not_written", f"{named} cannot be written: {error.strerror}.", "Choose another path."
        ) from error


def _replace(target: Path, data: bytes) -> None:
    descriptor, name = tempfile.mkstemp(prefix=".outlast-", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files only their owner may read; a file of the workspace is an ordinary one.
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
