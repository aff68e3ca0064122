"""Servers to measure: started from wheels, durable like those of production, on the disk of the system's temporary folder.

They are reached over TCP on 127.0.0.1, by floors, outlast and peers alike, as a store is that many machines share.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from outlast.domain.errors import Broken
from outlast.testing.servers.ports import free_port
from outlast.testing.servers.postgres import PostgresServer
from outlast.testing.servers.redis import RedisServer, find_binary

NAMES: Final = ("postgres", "redis")
DURABLE: Final = {"fsync": "on", "shared_buffers": "256MB", "max_wal_size": "4GB"}


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs: its address, and the process that all its others come from."""

    name: str
    url: str
    pid: int


@contextmanager
def served(name: str) -> Iterator[Served]:
    """A server of its own for as long as it is needed. Raises Broken (`server_missing`) where none can be started."""
    if name == "postgres":
        with PostgresServer(settings=DURABLE, port=free_port()) as postgres:
            pid_file = postgres.folder / "data" / "postmaster.pid"
            yield Served(name, postgres.url, int(pid_file.read_text().split()[0]))
    else:
        with RedisServer(find_binary("valkey"), port=free_port()) as redis:
            yield Served(name, redis.url, redis.pid)


def each_served(names: tuple[str, ...] = NAMES) -> Iterator[Served]:
    """One server after another; those that cannot be started are told of in a plain line and left out."""
    for name in names:
        try:
            with served(name) as server:
                yield server
        except Broken as trouble:
            if trouble.code != "server_missing":
                raise
            print(f"  {name} is left out: {trouble.detail} {trouble.next_step}", flush=True)


def cpu_seconds(pid: int) -> float:
    """What a process and those that come from it and are alive have used of the CPU so far, to the microsecond."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(stat.read_text().rpartition(") ")[2].split()[1])
            parents.setdefault(parent, []).append(int(stat.parent.name))
    family = [pid]
    for one in family:
        family += parents.get(one, [])
    return sum(map(_own_seconds, family))


def _own_seconds(pid: int) -> float:
    used = 0
    for thread in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError):
            used += int(thread.read_text().split()[0])
    return used / 1e9
