"""Archiving: whatever dies in between, a run is in the store or in a file, whole."""

import contextlib
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from outlast.cli.removing import archive_run
from outlast.cli.whole_files import lines_in
from outlast.ports.run_rows import RunFilter
from outlast.ports.store import Store
from outlast.service import signals
from outlast.service.importing import import_run
from outlast.service.portable import read_portable
from outlast.testing.faults import Crash, CrashPlan, Faulty
from tests.unit.adapters.stores.sqlite.making import opened

GOLDEN = Path(__file__).resolve().parents[2] / "golden/databases/sqlite-v1.db"


def names(folder: Path, pattern: str) -> list[str]:
    return [path.name for path in folder.glob(pattern)]


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    shutil.copy(GOLDEN, tmp_path / "outlast.db")
    async with opened(tmp_path / "outlast.db") as store:
        yield store


async def test_a_run_is_never_lost_wherever_archiving_dies(store: Store, tmp_path: Path) -> None:
    row = (await store.list_runs(RunFilter(state="COMPLETED")))[0]
    count = CrashPlan()
    assert await archive_run(Faulty(store, count, "store"), row, tmp_path) is not None
    path = tmp_path / f"{row.run_id}.jsonl.gz"
    whole = read_portable(lines_in(path))
    for point in count.points:
        await import_run(store, whole)
        path.unlink(missing_ok=True)
        with contextlib.suppress(Crash):
            await archive_run(Faulty(store, CrashPlan(point), "store"), row, tmp_path)
        is_there = await store.read_run(row.run_id) is not None
        assert is_there or read_portable(lines_in(path)) == whole
        assert names(tmp_path, ".*.part") == []
        if is_there:
            assert await archive_run(store, row, tmp_path) is not None
        assert names(tmp_path, "*.gz") == [path.name]


async def test_a_run_that_has_gone_on_stays(store: Store, tmp_path: Path) -> None:
    row = (await store.list_runs(RunFilter(state="FAILED")))[0]

    class Late:
        """Resumes the run right before it would be deleted."""

        def __getattr__(self, verb: str) -> object:
            return getattr(store, verb)

        async def commit(self, batch: object) -> object:
            await signals.resume(store, row.run_id, "local")
            return await store.commit(batch)  # type: ignore[arg-type]

    assert await archive_run(Late(), row, tmp_path) is None  # type: ignore[arg-type]
    assert await store.read_run(row.run_id) == row
    assert names(tmp_path, "*.gz") == []


async def test_a_file_of_another_content_is_not_written_over(store: Store, tmp_path: Path) -> None:
    row = (await store.list_runs(RunFilter(state="COMPLETED")))[0]
    earlier = tmp_path / f"{row.run_id}.jsonl.gz"
    earlier.write_bytes(b"something else")
    copied = await archive_run(store, row, tmp_path)
    assert copied is not None
    assert copied.file == str(tmp_path / f"{row.run_id}-2.jsonl.gz")
    assert earlier.read_bytes() == b"something else"
