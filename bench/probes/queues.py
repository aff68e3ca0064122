"""Claiming and completing what is due, one after another in one process: jobs a second.

Both complete what they hold and take the next in one: `ours` by a commit of the store, as a worker does that has more due than it
has room for, `floor` by a bare statement over a table of its own. A job of the SQL floors has what a queue made by hand would give
it: a priority, 200 bytes that say what to do, a result, and on PostgreSQL an index of leases by their end, without which nobody
would find what a dead worker held.
"""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import asyncpg
import redis

from bench.probes.stores import opened
from bench.work import arguments, emit
from outlast.ports.batch import Committed, Item
from outlast.ports.queue import ClaimDue, Enqueue, Release
from outlast.ports.store import Store

LEASE_SECONDS = 30.0
WORDS = "x" * 200
POSTGRES_TABLE = """
DROP TABLE IF EXISTS bench_jobs;
CREATE TABLE bench_jobs (
    id bigint PRIMARY KEY, state text NOT NULL, priority int NOT NULL DEFAULT 0, owner text, until timestamptz,
    attempts int NOT NULL DEFAULT 0, words text, result text
) WITH (fillfactor = 70);
CREATE INDEX ON bench_jobs (priority, id) WHERE state = 'queued';
CREATE INDEX ON bench_jobs (until) WHERE state = 'running'
"""
POSTGRES_TURN = """
WITH done AS (
    UPDATE bench_jobs SET state = 'done', owner = NULL, result = 'ok' WHERE id = ANY($2::bigint[]) AND owner = 'w' RETURNING 1
),
due AS (SELECT id FROM bench_jobs WHERE state = 'queued' ORDER BY priority, id LIMIT $1 FOR UPDATE SKIP LOCKED)
UPDATE bench_jobs AS job
SET state = 'running', owner = 'w', until = now() + interval '30 s', attempts = attempts + 1
FROM due WHERE job.id = due.id RETURNING job.id, job.words
"""
SQLITE_TABLE = """
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY, state TEXT NOT NULL, priority INTEGER NOT NULL DEFAULT 0, owner TEXT, until REAL,
    attempts INTEGER NOT NULL DEFAULT 0, words TEXT, result TEXT
);
CREATE INDEX ready ON jobs (priority, id) WHERE state = 'queued'
"""
SQLITE_DONE = "UPDATE jobs SET state = 'done', owner = NULL, result = 'ok' WHERE id = ? AND owner = 'w'"
SQLITE_TURN = """
UPDATE jobs SET state = 'running', owner = 'w', until = unixepoch() + 30, attempts = attempts + 1
WHERE id IN (SELECT id FROM jobs WHERE state = 'queued' ORDER BY priority, id LIMIT ?) RETURNING id, words
"""
REDIS_TURN = """
for n = 2, #ARGV do redis.call('ZREM', 'bench_leased', ARGV[n]) end
local taken = redis.call('ZPOPMIN', 'bench_due', ARGV[1])
local jobs = {}
for n = 1, #taken, 2 do
    redis.call('ZADD', 'bench_leased', taken[n + 1], taken[n])
    jobs[#jobs + 1] = taken[n]
end
return jobs
"""

Turn = Callable[[int, list[int]], Awaitable[list[int]]]


async def postgres_floor(url: str, jobs: int) -> Turn:
    connection = await asyncpg.connect(url)
    await connection.execute(POSTGRES_TABLE)
    await connection.execute(
        "INSERT INTO bench_jobs (id, state, words) SELECT id, 'queued', $2 FROM generate_series(1, $1::int) AS id",
        jobs,
        WORDS,
    )
    await connection.execute("VACUUM ANALYZE bench_jobs")
    statement = await connection.prepare(POSTGRES_TURN)

    async def turn(batch: int, done: list[int]) -> list[int]:
        return [row[0] for row in await statement.fetch(batch, done)]

    return turn


async def redis_floor(url: str, jobs: int) -> Turn:
    client = redis.Redis.from_url(url)
    client.delete("bench_due", "bench_leased")
    client.zadd("bench_due", {str(number): number for number in range(jobs)})
    script = client.register_script(REDIS_TURN)

    async def turn(batch: int, done: list[int]) -> list[int]:
        return list(map(int, script(args=[batch, *done])))

    return turn


async def sqlite_floor(directory: Path, jobs: int) -> Turn:
    connection = sqlite3.connect(directory / "floor.db", isolation_level=None)
    connection.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; {SQLITE_TABLE}")
    connection.execute("BEGIN")
    connection.executemany(
        "INSERT INTO jobs (id, state, words) VALUES (?, 'queued', ?)", [(n, WORDS) for n in range(jobs)]
    )
    connection.execute("COMMIT")

    async def turn(batch: int, done: list[int]) -> list[int]:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(SQLITE_DONE, [(n,) for n in done])
        taken = [row[0] for row in connection.execute(SQLITE_TURN, (batch,))]
        connection.execute("COMMIT")
        return taken

    return turn


async def floor(url: str, directory: Path, jobs: int, batch: int) -> float:
    """Jobs a second of the bare statement."""
    if url.startswith("postgresql:"):
        turn = await postgres_floor(url, jobs)
    else:
        turn = await (redis_floor(url, jobs) if url else sqlite_floor(directory, jobs))
    started, taken = time.perf_counter(), await turn(batch, [])
    while taken:
        taken = await turn(batch, taken)
    return jobs / (time.perf_counter() - started)


async def ours(store: Store, jobs: int, batch: int) -> float:
    """Jobs a second through the store."""
    due_at = await store.now() - timedelta(seconds=1)
    for first in range(0, jobs, 100):
        items: list[Item] = [
            Enqueue("bench", f"j{number}", due_at, "ann") for number in range(first, min(jobs, first + 100))
        ]
        await store.commit(items)
    following = ClaimDue("bench", "w", LEASE_SECONDS, batch)
    done, started, answer = 0, time.perf_counter(), await store.commit([following])
    while isinstance(answer, Committed) and answer.claims:
        done += len(answer.claims)
        finished = [Release("bench", claim.item, claim.generation, None) for claim in answer.claims]
        answer = await store.commit([*finished, following])
    assert done == jobs
    return jobs / (time.perf_counter() - started)


async def main() -> None:
    asked = arguments(__doc__, ("ours", "floor"), jobs=1000, batch=1)
    if asked.mode == "floor":
        rate = await floor(asked.url, asked.directory, asked.jobs, asked.batch)
    else:
        store = await opened(asked.url, asked.directory)
        rate = await ours(store, asked.jobs, asked.batch)
        await store.close()
    emit({"jobs_per_second": rate})


if __name__ == "__main__":
    asyncio.run(main())
