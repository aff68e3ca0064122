"""`outlast worker` that is started before its server: it waits, and takes what is due when the server is there."""

import signal
import socket
from collections.abc import Iterator

import pytest

from outlast.testing.servers.postgres import PostgresServer
from outlast.testing.servers.redis import RedisServer, find_binary
from tests.e2e.command_line import Home
from tests.law import law

CONFIG = """
llm: {{provider: scripted, script: script.yaml}}
harness: {{persistence: {{backend: {backend}, url: "${{URL}}"}}}}
"""


def served_by(home: Home, backend: str, url: str) -> None:
    home.environ = {"URL": url}
    home.write("outlast.yaml", CONFIG.format(backend=backend))
    home.write("script.yaml", "- {say: 'Twice a day.', repeat: true}\n")
    home.write("tasks/talk.yaml", "task: {name: talk, workflow: chat, tools: []}\n")


@pytest.fixture
def redis_server() -> Iterator[RedisServer]:
    """One that is not started yet."""
    server = RedisServer(find_binary("valkey"))
    yield server
    server.stop()


@law("SCALE-1.b")
def test_a_worker_waits_for_a_redis_that_is_not_there_yet(home: Home, redis_server: RedisServer) -> None:
    served_by(home, "redis", redis_server.url)
    worker = home.start("worker")
    worker.until("(try 1)")
    worker.until("(try 2)")
    redis_server.start()
    worker.until("The store is there.")
    worker.until("is ready")
    left = home.here("run", "--task", "talk", "--input", "hello", "--detach")
    assert "A worker was started" not in left.err
    worker.signal(signal.SIGTERM)
    assert worker.end().code == 0


@law("SCALE-1.b")
def test_a_worker_waits_for_a_postgres_that_is_not_there_yet(home: Home) -> None:
    with PostgresServer() as server:
        served_by(home, "postgres", server.url)
        server.stop()
        worker = home.start("worker", "--until-idle")
        worker.until("(try 2)")
        server.start()
        worker.until("The store is there.")
        assert worker.end().code == 0


@pytest.mark.parametrize("place", ["unknown database", "wrong password"])
def test_what_waiting_does_not_change_ends_a_worker_at_once(
    home: Home, postgres_url: str, redis_server: RedisServer, place: str
) -> None:
    if place == "unknown database":
        served_by(home, "postgres", postgres_url.replace("/postgres?", "/nowhere?"))
    else:
        redis_server.start()
        served_by(home, "redis", f"unix://ann:canary@{redis_server.socket}")
    ended = home.outlast("worker")
    assert ended.code == 1
    assert "Waiting" not in ended.err
    assert "harness.persistence.url" in ended.err
    assert "canary" not in ended.err


def test_a_worker_that_waits_is_stopped_by_ctrl_c(home: Home) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        served_by(home, "redis", f"redis://127.0.0.1:{nobody.getsockname()[1]}/0")
        worker = home.start("worker")
        worker.until("(try 1)")
        worker.signal(signal.SIGINT)
        assert worker.end().code == 130
