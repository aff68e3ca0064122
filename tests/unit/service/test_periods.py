"""The runs of a period: as many rows are read as it takes, and no more than are wanted."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.ports.run_rows import InsertRun, RunFilter, RunRow
from outlast.ports.thread_rows import InsertThread, ThreadRow
from outlast.service.periods import began_since

AT = datetime(2026, 5, 1, 12, tzinfo=UTC)


def run_of(number: int) -> RunRow:
    at = AT + timedelta(minutes=number)
    return RunRow(
        run_id=f"r-{number}",
        thread_id="t-1",
        user_id="local",
        task="talk",
        state="COMPLETED",
        is_active=False,
        created_at=at,
        updated_at=at,
        summary="{}",
    )


@pytest.mark.parametrize(
    ("since", "most", "wanted", "is_whole", "looks"),
    [
        (AT + timedelta(minutes=1198), 5000, 2, True, 1),
        (AT, 5000, 1200, True, 2),
        (AT, 700, 700, False, 2),
        (None, 5000, 1200, True, 1),
        (AT, 0, 0, False, 1),
    ],
    ids=["short", "long", "bounded", "whenever", "none wanted"],
)
async def test_rows_are_read_as_far_as_the_period_goes(
    since: datetime | None, most: int, wanted: int, is_whole: bool, looks: int
) -> None:
    store: Any = SqliteStore(None)
    await store.open()
    await store.commit([InsertThread(ThreadRow(thread_id="t-1", user_id="local", title="", created_at=AT))])
    await store.commit([InsertRun(run_of(number)) for number in range(1200)])
    asked, list_runs = Counter[str](), store.list_runs

    async def counted(which: RunFilter) -> list[RunRow]:
        asked["list_runs"] += 1
        found: list[RunRow] = await list_runs(which)
        return found

    store.list_runs = counted
    rows, whole = await began_since(store, RunFilter(), since, most)
    await store.close()
    assert [row.run_id for row in rows] == [f"r-{number}" for number in range(1199, 1199 - wanted, -1)]
    assert (whole, asked["list_runs"]) == (is_whole, looks)
