"""Delete runs that ended long ago, and what nothing needs any more."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated

from cyclopts import App, Parameter

from outlast.cli.asking import confirmed
from outlast.cli.exits import Exit
from outlast.cli.opening import existing_store
from outlast.cli.options import AsJson, Config
from outlast.cli.phrases import counted
from outlast.cli.printing import document, note, out
from outlast.cli.removing import (
    DryRun,
    Expired,
    IncludeFailed,
    OlderThan,
    expired_runs,
    return_room,
    total_bytes,
)
from outlast.domain.ages import age_in
from outlast.domain.dataclass import dataclass
from outlast.domain.errors import CallerMistake
from outlast.ports.inventory import Stray
from outlast.ports.store import Store
from outlast.service.removal import remove_run, sweep
from outlast.wiring.settings.load import load
from outlast.wiring.settings.tree import Settings
from outlast.wiring.workspaces import Workspace, find_workspaces, remove_workspace

app = App(name="prune")


@dataclass(frozen=True, slots=True)
class _Found:
    """What would go."""

    runs: Sequence[Expired]
    workspaces: Sequence[Workspace]
    stray: Stray

    @property
    def count(self) -> int:
        return len(self.runs) + len(self.workspaces) + len(self.stray.payloads) + len(self.stray.streams)

    @property
    def size_bytes(self) -> int:
        left = sum(one.size_bytes for one in self.workspaces)
        return total_bytes(self.runs) + left + sum(self.stray.payloads.values())

    def in_words(self) -> str:
        return (
            f"{counted(len(self.runs), 'run')}, {counted(len(self.workspaces), 'workspace')} of runs that are gone or go, "
            f"{counted(len(self.stray.payloads), 'payload')} nothing refers to: up to {self.size_bytes:,} bytes"
        )


@app.default
def prune(
    *,
    older_than: OlderThan,
    include_failed: IncludeFailed = False,
    dry_run: DryRun = False,
    yes: Annotated[bool, Parameter(help="Do not ask.")] = False,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Delete runs that ended long ago, without a copy, with workspaces and payloads that nothing needs. It cannot be undone.

    What forks and continuations refer to stays. `outlast archive` keeps a copy.
    """
    settings, age = load(config), age_in(older_than)
    found = asyncio.run(_found(settings, age, include_failed))
    if not dry_run and found.count and not yes:
        _ask(found)
    gone = asyncio.run(_deleted(settings, found)) if not dry_run and found.count else []
    given = return_room(settings) if gone or (found.stray.payloads and not dry_run) else 0
    if json:
        _document(found, gone, given, dry_run=dry_run)
    elif dry_run:
        for one in found.runs:
            out(
                f"{one.row.run_id}  {one.row.state}  ended {one.row.updated_at:%Y-%m-%d}  {one.size_bytes:,} bytes"
            )
        for left in found.workspaces:
            out(f"{left.path}  {left.size_bytes:,} bytes")
        note(f"{found.in_words()} would go.")
    else:
        note(
            f"Deleted {counted(len(gone), 'run')}; {given:,} bytes given back."
            if found.count
            else "There is nothing to delete."
        )
    return Exit.DONE


def _document(found: _Found, gone: Sequence[str], given: int, *, dry_run: bool) -> None:
    runs = [one.as_document() for one in found.runs if dry_run or one.row.run_id in gone]
    left = [{"path": str(one.path), "size_bytes": one.size_bytes} for one in found.workspaces]
    stray = {"count": len(found.stray.payloads), "size_bytes": sum(found.stray.payloads.values())}
    document(
        {"dry_run": dry_run, "runs": runs, "workspaces": left, "payloads": stray, "given_back_bytes": given}
    )


def _ask(found: _Found) -> None:
    if not sys.stdin.isatty():
        raise CallerMistake(
            "not_confirmed",
            f"{found.in_words()} would be deleted, and nobody is there to agree.",
            "Say --yes, or look first with --dry-run.",
        )
    if not confirmed(f"Delete {found.in_words()}? It cannot be undone. [y/N] "):
        raise CallerMistake(
            "not_confirmed", "Nothing was deleted.", "`outlast archive` keeps a copy of each run."
        )


async def _found(settings: Settings, age: timedelta, include_failed: bool) -> _Found:
    async with existing_store(settings) as store:
        before = await store.now() - age
        runs = await expired_runs(store, before, include_failed=include_failed)
        going = {one.row.run_id for one in runs}
        left = [one for one in find_workspaces(settings.home) if await _is_left(store, one, before, going)]
        return _Found(runs, left, await store.find_stray())


async def _is_left(store: Store, workspace: Workspace, before: datetime, going: set[str]) -> bool:
    """Is its run gone, or about to go, and nothing in it younger than that?"""
    if workspace.changed_at >= before:
        return False
    return workspace.run_id in going or await store.read_run(workspace.run_id) is None


async def _deleted(settings: Settings, found: _Found) -> list[str]:
    async with existing_store(settings) as store:
        gone = [one.row.run_id for one in found.runs if await remove_run(store, one.row, one.events)]
        await sweep(store, found.stray)
        for workspace in found.workspaces:
            if await store.read_run(workspace.run_id) is None:
                remove_workspace(workspace)
    return gone
