"""The floor: the same loop with two bare commits a round into one table, and nothing else.

`bare` commits in the loop's own thread, `thread` in a thread beside it, `group` serves many runs with one transaction for
whatever is pending. No agent can be durable at each step for less on this disk.
"""

import asyncio
import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from bench.work import Rounds, Stopwatch, arguments, emit, of_many, of_rounds

TABLE = "CREATE TABLE journal (run TEXT, position INTEGER, kind TEXT, body TEXT, PRIMARY KEY (run, position))"
INSERT = "INSERT INTO journal VALUES (?, ?, ?, ?)"

Row = tuple[str, int, str, str]


class Journal(Protocol):
    """Makes one row durable."""

    async def append(self, row: Row) -> None: ...


class Bare:
    """One commit a row, right here."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def append(self, row: Row) -> None:
        self._connection.execute(INSERT, row)


class Threaded:
    """One commit a row, in one other thread."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._executor = ThreadPoolExecutor(1)

    async def append(self, row: Row) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._executor, self._connection.execute, INSERT, row)


class Grouped:
    """One commit for all rows that are pending."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._pending: list[tuple[Row, asyncio.Future[None]]] = []

    async def append(self, row: Row) -> None:
        loop = asyncio.get_running_loop()
        if not self._pending:
            loop.call_soon(self._flush)
        done: asyncio.Future[None] = loop.create_future()
        self._pending.append((row, done))
        await done

    def _flush(self) -> None:
        pending, self._pending = self._pending, []
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(INSERT, [row for row, _ in pending])
        self._connection.execute("COMMIT")
        for _, done in pending:
            done.set_result(None)


def model(messages: list[dict[str, Any]], rounds: int) -> dict[str, Any]:
    """The next thing the model says."""
    index = (len(messages) - 1) // 2
    if index >= rounds:
        return {"role": "assistant", "content": "done"}
    return {
        "role": "assistant",
        "tool_calls": [{"name": "noop", "arguments": {"index": index}, "id": f"c{index}"}],
    }


async def loop(journal: Journal, run: str, rounds: int, tool: Rounds) -> None:
    """One run from its question to its answer."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    while True:
        said = model(messages, rounds)
        await journal.append((run, len(messages), "model", json.dumps(said)))
        messages.append(said)
        if "tool_calls" not in said:
            return
        for call in said["tool_calls"]:
            text = tool.answer(call["arguments"]["index"])
            result = {"role": "tool", "tool_call_id": call["id"], "content": text}
            await journal.append((run, len(messages), "tool", json.dumps(result)))
            messages.append(result)


async def main() -> None:
    asked = arguments(__doc__, ("bare", "thread", "group"), rounds=50, runs=1)
    path = asked.directory / "floor.db"
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(TABLE)
    kinds: dict[str, type[Bare | Threaded | Grouped]] = {"bare": Bare, "thread": Threaded, "group": Grouped}
    journal = kinds[asked.mode](connection)
    tool = Rounds()
    watch = Stopwatch()
    await asyncio.gather(*[loop(journal, f"r{number}", asked.rounds, tool) for number in range(asked.runs)])
    many = asked.mode == "group"
    found = of_many(watch, asked.rounds * asked.runs) if many else of_rounds(watch, asked.rounds, tool)
    connection.close()
    emit({**found, "file_bytes": path.stat().st_size})


if __name__ == "__main__":
    asyncio.run(main())
