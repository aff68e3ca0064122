"""Eight workers on one store, one of them killed every second: every run ends once, no step twice, no effect twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from outlast.testing.servers.postgres import PostgresServer
from outlast.testing.servers.redis import RedisServer, find_binary
from tests.crash.soak import Soak
from tests.law import law

SEED = 20260301
SKEWS_SECONDS = (60.0, -60.0, 0.0)
"""Clocks of workers that are a minute off either way. Not on SQLite, where all workers are on one machine, with one clock."""


@law("RUN-10.a", "RUN-3.c")
@pytest.mark.timeout(1200)
async def test_two_hundred_runs_survive_workers_that_are_killed(tmp_path: Path) -> None:
    print(await Soak(tmp_path, "{backend: sqlite}", SEED).survive(200))  # noqa: T201


@pytest.mark.torture
@pytest.mark.timeout(1800)
async def test_two_thousand_runs_survive_on_sqlite(tmp_path: Path) -> None:
    print(await Soak(tmp_path, "{backend: sqlite}", SEED).survive(2000))  # noqa: T201


@pytest.fixture
def postgres() -> Iterator[PostgresServer]:
    with PostgresServer(settings={"fsync": "on"}) as server:
        yield server


@pytest.mark.torture
@pytest.mark.timeout(1800)
async def test_two_thousand_runs_survive_on_postgres_restarted_three_times_with_clocks_apart(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    def restart() -> None:
        postgres.stop()
        postgres.start()

    soak = Soak(tmp_path, f'{{backend: postgres, url: "{postgres.url}"}}', SEED, SKEWS_SECONDS)
    figures = await soak.survive(2000, restarts=3, restart=restart)
    assert figures.restarts == 3
    print(figures)  # noqa: T201


@pytest.mark.torture
@pytest.mark.timeout(1800)
async def test_two_thousand_runs_survive_on_redis_with_clocks_apart(tmp_path: Path) -> None:
    with RedisServer(find_binary("valkey")) as server:
        soak = Soak(tmp_path, f'{{backend: redis, url: "{server.url}"}}', SEED, SKEWS_SECONDS)
        print(await soak.survive(2000))  # noqa: T201
