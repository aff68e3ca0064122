"""`list_files`: see what is in the workspace."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Final

from outlast.adapters.tools.workspace_paths import confined
from outlast.domain.door import clean_text
from outlast.domain.errors import ToolTrouble
from outlast.ports.tool import BaseTool, ToolContext, ToolResult

_MOST_LISTED: Final = 500


class ListFiles(BaseTool):
    """Lists files with their sizes; links are not followed."""

    name = "list_files"
    description = "List the files of the workspace, or of a folder in it, with their sizes."
    input_schema: ClassVar = {
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "minLength": 1,
                "default": ".",
                "description": "Relative to the workspace.",
            }
        },
        "additionalProperties": False,
    }
    effect = "read"
    cache_seconds = 0  # the run writes to its workspace itself

    async def execute(self, context: ToolContext, path: str = ".") -> ToolResult:
        """At most 500 files in order of their names. Raises ToolTrouble (`path_refused`, `not_found`)."""
        return ToolResult(success=True, data=await asyncio.to_thread(_listing, context.workspace, path))


def _listing(workspace: Path, named: str) -> dict[str, Any]:
    folder = confined(workspace, named)
    if not folder.is_dir():
        raise ToolTrouble(
            "not_found", f"There is no folder {named}.", 'List the workspace itself with path ".".'
        )
    files = list(islice(_files(folder, workspace.resolve()), _MOST_LISTED + 1))
    listing: dict[str, Any] = {"files": files[:_MOST_LISTED]}
    if len(files) > _MOST_LISTED:
        listing["note"] = f"Only the first {_MOST_LISTED} files are listed; list a folder to see more."
    return listing


def _files(folder: Path, root: Path) -> Iterator[dict[str, Any]]:
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            yield {"path": clean_text(str(path.relative_to(root))), "size_bytes": path.lstat().st_size}
