"""The directories that runs work in: where they are, and which of them nobody needs any more."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from outlast.domain.dataclass import dataclass
from outlast.domain.ids import is_safe_id


@dataclass(frozen=True, slots=True)
class Workspace:
    """The directory of a run; when something in it was last changed, and how large its files are."""

    run_id: str
    path: Path
    changed_at: datetime
    size_bytes: int


def workspace_of(home: Path, run_id: str) -> Path:
    """Where a run of the configuration in `home` works."""
    return home.joinpath(".outlast", "workspaces", run_id)


def find_workspaces(home: Path) -> Iterator[Workspace]:
    """The workspaces that are there; what is not one (another name, a link) is passed over."""
    folder = workspace_of(home, "any").parent
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if is_safe_id(path.name) and path.is_dir() and not path.is_symlink():
            stats = [one.lstat() for one in (path, *path.rglob("*"))]
            changed = datetime.fromtimestamp(max(one.st_mtime for one in stats), UTC)
            yield Workspace(path.name, path, changed, sum(one.st_size for one in stats[1:]))


def remove_workspace(workspace: Workspace) -> None:
    """Delete a workspace with all its files; links in it are deleted, not followed."""
    shutil.rmtree(workspace.path)
