"""`db check --conformance`: the store contract against the store that is configured, beside what is stored in it."""

import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import asyncpg
import pytest
import redis

from outlast.testing.servers.postgres import PostgresServer
from outlast.testing.servers.redis import RedisServer, find_binary
from tests.e2e.command_line import Home
from tests.law import law

CHECK = ("db", "check", "--conformance")
TALK = "task: {name: talk, workflow: chat, tools: []}\n"
CONFIG = "llm: {provider: scripted, script: script.yaml}\n"


@pytest.fixture
def used(home: Home) -> Home:
    """A store with a run in it, once the configuration says where."""
    home.write("outlast.yaml", CONFIG)
    home.write("script.yaml", "- {say: 'Twice a day.', repeat: true}\n")
    home.write("tasks/talk.yaml", TALK)
    return home


@pytest.fixture
def served() -> Iterator[RedisServer]:
    with RedisServer(find_binary("valkey")) as server:
        yield server


@law("STORE-1.e")
def test_the_whole_contract_is_held_beside_a_database_that_stays_as_it_was(used: Home) -> None:
    assert used.outlast("run", "--task", "talk", "--input", "How often?").code == 0
    database = used.folder / ".outlast" / "outlast.db"
    with closing(sqlite3.connect(database)) as connection:
        before = list(connection.iterdump())
    checked = used.outlast(*CHECK, "--json")
    assert checked.code == 0, checked.err
    found = checked.document["conformance"]
    assert (found["failed"], found["passed"] > 100, checked.document["runs"]) == ({}, True, 1)
    with closing(sqlite3.connect(database)) as connection:
        assert list(connection.iterdump()) == before
    assert [path.name for path in database.parent.glob(".outlast-scratch-*")] == []


async def test_nothing_is_left_on_postgres_after_a_ctrl_c(
    used: Home, postgres_server: PostgresServer
) -> None:
    used.environ = {"URL": f"{postgres_server.url}&schema=checked_by_cli"}
    used.write("outlast.yaml", CONFIG + 'harness: {persistence: {backend: postgres, url: "${URL}"}}\n')
    assert used.outlast("run", "--task", "talk", "--input", "How often?").code == 0
    connection = await asyncpg.connect(postgres_server.url)

    async def schemas() -> list[str]:
        found = await connection.fetch(
            "SELECT nspname FROM pg_namespace WHERE nspname ~ '^(outlast_scratch|checked)' ORDER BY 1"
        )
        return [name for (name,) in found]

    try:
        checking = used.start(*CHECK)
        while len(await schemas()) < 4:
            assert checking.process.poll() is None, checking.end().err
            await connection.execute("SELECT pg_sleep(0.02)")
        checking.signal(signal.SIGINT)
        assert checking.end().code == 130
        assert await schemas() == ["checked_by_cli"]
        assert await connection.fetchval("SELECT count(*) FROM checked_by_cli.runs") == 1
    finally:
        await connection.execute("DROP SCHEMA IF EXISTS checked_by_cli CASCADE")
        await connection.close()


def test_nothing_is_left_on_redis_when_it_is_ended(used: Home, served: RedisServer) -> None:
    used.environ = {"URL": served.url}
    used.write("outlast.yaml", CONFIG + 'harness: {persistence: {backend: redis, url: "${URL}"}}\n')
    assert used.outlast("run", "--task", "talk", "--input", "How often?").code == 0
    with redis.Redis.from_url(served.url) as client:
        before = sorted(client.scan_iter(match="{outlast:main}*"))
        checking = used.start(*CHECK)
        while not list(client.scan_iter(match="{outlast:scratch-*", count=1000)):
            assert checking.process.poll() is None, checking.end().err
            client.blpop(["nothing"], 0.02)
        checking.signal(signal.SIGINT)
        assert checking.end().code == 130
        assert list(client.scan_iter(match="{outlast:scratch-*", count=1000)) == []
        assert sorted(client.scan_iter(match="{outlast:main}*")) == before
