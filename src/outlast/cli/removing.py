"""What archive and prune share: choosing runs that are over, copying one away, giving room back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from outlast.cli.printing import note
from outlast.cli.whole_files import WholeFile, lines_in
from outlast.domain.dataclass import dataclass
from outlast.ports.run_rows import RunRow
from outlast.ports.store import Store
from outlast.service.exporting import export_run
from outlast.service.portable import read_portable
from outlast.service.removal import find_expired, remove_run, size_of
from outlast.wiring.settings.tree import Settings
from outlast.wiring.stores import give_back

OlderThan = Annotated[str, Parameter(name="--older-than", help="Runs that ended longer ago: 30d, 12h, 2w.")]
IncludeFailed = Annotated[
    bool, Parameter(name="--include-failed", help="Also runs that failed, which could still be resumed.")
]
DryRun = Annotated[bool, Parameter(name="--dry-run", help="Only say what would go.")]

_COMPACTING_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class Expired:
    """A run that is over, and how much it takes."""

    row: RunRow
    events: int
    size_bytes: int

    def as_document(self) -> dict[str, Any]:
        """As programs see it."""
        row = self.row
        shown = {"run_id": row.run_id, "task": row.task, "state": row.state}
        return {**shown, "ended_at": row.updated_at.isoformat(), "size_bytes": self.size_bytes}


@dataclass(frozen=True, slots=True)
class Copied:
    """An archived run: where its copy lies."""

    run_id: str
    file: str
    size_bytes: int

    def as_document(self) -> dict[str, Any]:
        """As programs see it."""
        return asdict(self)


async def expired_runs(store: Store, before: datetime, *, include_failed: bool) -> list[Expired]:
    """The runs that ended before a time, oldest first, with their sizes, for which each is read."""
    found = []
    async for row in find_expired(store, before, include_failed=include_failed):
        size = await size_of(store, row.run_id)
        found.append(Expired(row, size.events, size.size_bytes))
    return found


async def archive_run(store: Store, row: RunRow, folder: Path) -> Copied | None:
    """Copy a run into a file, read the copy back, and only then take the run out of the store. None: it has gone on meanwhile.

    Raises what exporting raises and CallerMistake (`file_unusable`, `export_damaged`).
    """
    path = folder / f"{row.run_id}.jsonl.gz"
    with WholeFile(path) as file:
        async for line in export_run(store, row.run_id):
            file.write(line)
        draft = file.finish()
        copy = read_portable(lines_in(draft))
        if copy.run != row:
            return None
        path, is_new = _kept(file, path)
    if not await remove_run(store, row, len(copy.events)):
        if is_new:
            path.unlink(missing_ok=True)
        return None
    return Copied(row.run_id, str(path), path.stat().st_size)


def _kept(file: WholeFile, path: Path) -> tuple[Path, bool]:
    """Where the copy lies: under a name that no other content has; False when it was there before."""
    stem, number = path.name.removesuffix(".jsonl.gz"), 1
    content = file.draft.read_bytes()
    while path.exists():
        if path.read_bytes() == content:
            return path, False
        number += 1
        path = path.with_name(f"{stem}-{number}.jsonl.gz")
    file.keep(path)
    return path, True


def return_room(settings: Settings) -> int:
    """Give the room of what was removed back to the system, and say where that could not be done now."""
    given = give_back(settings, os.environ, _COMPACTING_SECONDS)
    if given is None:
        note("The database keeps the free room for what comes: it is in use, or large.")
        note("  next: `outlast db compact` gives it back, best when no worker is at work.")
    return given or 0


def total_bytes(found: Sequence[Expired]) -> int:
    """How much runs take together."""
    return sum(one.size_bytes for one in found)
