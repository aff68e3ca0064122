"""A fault at the i-th statement, for every i until a run meets none: nothing is half written and the store goes on."""

import asyncio
import math
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import pytest

from outlast.adapters.stores.sqlite import SqliteStore
from outlast.domain.errors import Broken
from outlast.ports.batch import Committed, Item, Refused
from outlast.ports.queue import Enqueue, Release
from outlast.ports.run_rows import InsertRun
from outlast.ports.stream import Append, EventRow, PutPayload
from outlast.ports.thread_rows import InsertThread
from outlast.testing.contracts.store.samples import AT, run, thread

Side = Literal["before", "after", "for ever"]
FAULTS: list[tuple[Side, int]] = [
    ("before", sqlite3.SQLITE_FULL),
    ("after", sqlite3.SQLITE_IOERR_FSYNC),
    ("for ever", sqlite3.SQLITE_IOERR_READ),
]


class Fault:
    """Counts statements over all connections; at the `at`-th it strikes, `for ever` on the connection it struck."""

    def __init__(self, at: int, side: Side, code: int) -> None:
        self.at, self.side, self.code = at, side, code
        self.statements = 0
        self.struck: sqlite3.Connection | None = None

    def connections(self) -> type[sqlite3.Connection]:
        fault = self

        class Struck(sqlite3.Connection):
            def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:  # type: ignore[override]
                return fault.around(self, lambda: super(Struck, self).execute(sql, parameters))

        return Struck

    def around(self, connection: sqlite3.Connection, execute) -> sqlite3.Cursor:  # type: ignore[no-untyped-def]
        self.statements += 1
        is_here = self.statements == self.at
        if is_here:
            self.struck = connection
        if (is_here and self.side == "before") or (self.side == "for ever" and self.struck is connection):
            raise self.error()
        cursor: sqlite3.Cursor = execute()
        if is_here and self.side == "after":
            cursor.close()  # an error of SQLite's own leaves no cursor that would hold a lock
            raise self.error()
        return cursor

    def error(self) -> sqlite3.OperationalError:
        error = sqlite3.OperationalError(f"injected {self.side} statement {self.at}")
        error.sqlite_errorcode = self.code
        return error


def parts(name: str) -> list[Item]:
    """A batch whose parts can be told from outside: two streams, a payload and an entry."""
    event = EventRow(1, "Noted", 1, AT, "{}")
    return [
        Append(f"{name}-first", 0, (event,)),
        PutPayload(f"{name}-first", name, name.encode()),
        Enqueue("runs", name, AT, "ann"),
        Append(f"{name}-last", 0, (event,)),
    ]


async def parts_found(store: SqliteStore, name: str) -> list[bool]:
    return [
        await store.read_head(f"{name}-first") == 1,
        bool(await store.read_payloads([name])),
        await store.read_entry("runs", name) is not None,
        await store.read_head(f"{name}-last") == 1,
    ]


async def told(work: asyncio.Future[Committed | Refused]) -> str:
    """What a commit came to: `Committed`, `Refused`, or the code of the error."""
    try:
        return type(await work).__name__
    except Broken as error:
        return error.code


async def scene(store: SqliteStore) -> dict[str, str]:
    """What a program might do, and what each of its batches came to."""
    outcomes = {}
    watch = store.watch(["two-last"])
    run_of = [InsertThread(thread()), InsertRun(run("r", is_active=False)), *parts("one")]
    outcomes["one"] = await told(asyncio.ensure_future(store.commit(run_of)))
    together = [asyncio.ensure_future(store.commit(parts(f"group{n}"))) for n in range(4)]
    stale = asyncio.ensure_future(
        store.commit([*parts("stale"), Append("stale-last", 0, parts("x")[0].events)])
    )  # type: ignore[union-attr]
    outcomes |= {f"group{n}": await told(work) for n, work in enumerate(together)}
    outcomes["stale"] = await told(stale)
    try:
        for claim in await store.claim("runs", "w", 60, limit=2):
            await store.renew([claim], 60)
            release = Release("runs", claim.item, claim.generation, None)
            await store.commit([release])
        await store.list_threads("ann")
    except Broken:
        pass
    outcomes["two"] = await told(asyncio.ensure_future(store.commit(parts("two"))))
    watch.stop()
    return outcomes


async def check(path: Path, outcomes: dict[str, str]) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    store = SqliteStore(path)
    await store.open()
    for name, outcome in outcomes.items():
        found = await parts_found(store, name)
        assert len(set(found)) == 1, f"{name} is half written: {found}"
        if outcome != "commit_unknown":
            assert found[0] is (outcome == "Committed"), f"{name} was told {outcome}"
    await store.close()


@pytest.mark.parametrize("quick_seconds", [0, math.inf], ids=["aside", "at once"])
@pytest.mark.parametrize(("side", "code"), FAULTS)
async def test_a_fault_at_any_statement_leaves_nothing_half_written(
    tmp_path: Path, side: Side, code: int, quick_seconds: float
) -> None:
    at = 0
    while True:
        at += 1
        path = tmp_path / f"{at}.db"
        fault = Fault(at, side, code)
        store = SqliteStore(path, connection_class=fault.connections(), quick_seconds=quick_seconds)
        try:
            await store.open()
        except Broken:
            await check(path, {})
            continue
        outcomes = await scene(store)
        if fault.struck is not None and fault.side != "for ever":
            assert await told(asyncio.ensure_future(store.commit(parts("more")))) == "Committed"
        await store.close()
        await check(path, outcomes)
        if fault.struck is None:
            break
    assert outcomes == {"one": "Committed", "stale": "Refused", "two": "Committed"} | {
        f"group{n}": "Committed" for n in range(4)
    }
    assert at > 50
