"""The floor on a server: the same loop with two bare writes a round, and nothing else.

`bare` writes one row or one list entry at a time; `group` serves many runs with one statement or pipeline for whatever is
pending, and lets the next one fill while it is under way.
"""

import asyncio
from typing import Any, Protocol

import asyncpg
import redis

from bench.probes.floor import Row, loop
from bench.work import Rounds, Stopwatch, arguments, emit, of_many, of_rounds

TABLE = """
CREATE TABLE IF NOT EXISTS bench_floor (
    run text, place int, kind text, body text, PRIMARY KEY (run, place)
)
"""
ONE = "INSERT INTO bench_floor VALUES ($1, $2, $3, $4)"
MANY = "INSERT INTO bench_floor SELECT * FROM unnest($1::text[], $2::int[], $3::text[], $4::text[])"


class Target(Protocol):
    """Makes rows durable on a server."""

    async def one(self, row: Row) -> None: ...

    async def many(self, rows: list[Row]) -> None: ...


class Postgres:
    """One connection, prepared statements."""

    async def open(self, url: str) -> "Postgres":
        connection = await asyncpg.connect(url)
        await connection.execute(TABLE)
        await connection.execute("TRUNCATE bench_floor")
        self._one, self._many = await connection.prepare(ONE), await connection.prepare(MANY)
        return self

    async def one(self, row: Row) -> None:
        await self._one.fetch(*row)

    async def many(self, rows: list[Row]) -> None:
        await self._many.fetch(*map(list, zip(*rows, strict=True)))


class Redis:
    """One connection that blocks, as the thinnest client does; each run is a list."""

    async def open(self, url: str) -> "Redis":
        self._client = redis.Redis.from_url(url)
        for key in self._client.scan_iter("bench_floor:*"):
            self._client.delete(key)
        return self

    async def one(self, row: Row) -> None:
        self._client.rpush(f"bench_floor:{row[0]}", row[3])

    async def many(self, rows: list[Row]) -> None:
        pipeline = self._client.pipeline(transaction=False)
        for row in rows:
            pipeline.rpush(f"bench_floor:{row[0]}", row[3])
        await asyncio.get_running_loop().run_in_executor(None, pipeline.execute)


class Bare:
    """One write a row."""

    def __init__(self, target: Target) -> None:
        self.append = target.one


class Grouped:
    """One write for all rows that are pending."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._pending: list[tuple[Row, asyncio.Future[None]]] = []
        self._task: asyncio.Task[None] | None = None

    async def append(self, row: Row) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pending.append((row, done))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._flush())
        await done

    async def _flush(self) -> None:
        while self._pending:
            pending, self._pending = self._pending, []
            await self._target.many([row for row, _ in pending])
            for _, done in pending:
                done.set_result(None)
            await asyncio.sleep(0)


async def main() -> None:
    asked = arguments(__doc__, ("bare", "group"), rounds=50, runs=1)
    target: Any = await (Postgres() if asked.url.startswith("postgresql:") else Redis()).open(asked.url)
    journal = Bare(target) if asked.mode == "bare" else Grouped(target)
    tool = Rounds()
    watch = Stopwatch()
    await asyncio.gather(*[loop(journal, f"r{number}", asked.rounds, tool) for number in range(asked.runs)])
    many = asked.mode == "group"
    emit(of_many(watch, asked.rounds * asked.runs) if many else of_rounds(watch, asked.rounds, tool))


if __name__ == "__main__":
    asyncio.run(main())
