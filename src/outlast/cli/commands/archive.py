"""Move runs that ended long ago into files."""

from __future__ import annotations

import asyncio
import os
from dataclasses import field
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from outlast.cli.exits import Exit
from outlast.cli.opening import existing_store
from outlast.cli.options import AsJson, Config
from outlast.cli.phrases import counted
from outlast.cli.printing import document, note, out
from outlast.cli.removing import (
    Copied,
    DryRun,
    Expired,
    IncludeFailed,
    OlderThan,
    archive_run,
    expired_runs,
    return_room,
    total_bytes,
)
from outlast.cli.whole_files import unusable
from outlast.domain.ages import age_in
from outlast.domain.dataclass import dataclass
from outlast.domain.errors import CallerMistake, OutlastError
from outlast.service.removal import find_expired
from outlast.wiring.settings.load import load
from outlast.wiring.settings.tree import Settings

app = App(name="archive")


@dataclass
class _Done:
    """What came of it."""

    copied: list[Copied] = field(default_factory=list)
    wrong: list[tuple[str, OutlastError]] = field(default_factory=list)


@app.default
def archive(
    *,
    older_than: OlderThan,
    to: Annotated[
        str | None, Parameter(help="The folder; left out: .outlast/archive beside the configuration.")
    ] = None,
    include_failed: IncludeFailed = False,
    dry_run: DryRun = False,
    config: Config = None,
    json: AsJson = False,
) -> int:
    """Move runs that ended long ago into files, one a run, which `outlast import` takes up again.

    A run leaves the database only when its copy was read back whole. What its forks and continuations refer to stays.
    """
    settings, age = load(config), age_in(older_than)
    folder = Path(to) if to is not None else settings.home / ".outlast" / "archive"
    found, done = asyncio.run(_archived(settings, age, folder, include_failed, dry_run))
    given = return_room(settings) if done.copied else 0
    if json:
        shown = (
            [one.as_document() for one in found] if dry_run else [one.as_document() for one in done.copied]
        )
        wrong = [
            {"run_id": run_id, "code": error.code, "detail": error.detail} for run_id, error in done.wrong
        ]
        document({"dry_run": dry_run, "archived": shown, "failed": wrong, "given_back_bytes": given})
    elif dry_run:
        for one in found:
            out(
                f"{one.row.run_id}  {one.row.state}  ended {one.row.updated_at:%Y-%m-%d}  {one.size_bytes:,} bytes"
            )
        note(f"{counted(len(found), 'run')}, {total_bytes(found):,} bytes, would be moved to {folder}.")
    else:
        for copied in done.copied:
            out(copied.file)
        note(f"{counted(len(done.copied), 'run')} moved to {folder}; {given:,} bytes given back.")
    return Exit.FAILED if done.wrong else Exit.DONE


async def _archived(
    settings: Settings, age: timedelta, folder: Path, include_failed: bool, dry_run: bool
) -> tuple[list[Expired], _Done]:
    done = _Done()
    async with existing_store(settings) as store:
        before = await store.now() - age
        if dry_run:
            return await expired_runs(store, before, include_failed=include_failed), done
        async for row in find_expired(store, before, include_failed=include_failed):
            _make(folder)
            try:
                copied = await archive_run(store, row, folder)
            except CallerMistake as mistake:
                if mistake.code == "file_unusable":
                    raise
                _tell(done, row.run_id, mistake)
            except OutlastError as error:
                _tell(done, row.run_id, error)
            else:
                if copied is not None:
                    done.copied.append(copied)
    return [], done


def _tell(done: _Done, run_id: str, error: OutlastError) -> None:
    done.wrong.append((run_id, error))
    note(f"{run_id} stays where it is: {error}")


def _make(folder: Path) -> None:
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise unusable(folder, error) from error
