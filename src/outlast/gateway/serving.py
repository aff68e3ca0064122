"""Serving: listens, works on runs, and on a signal ends both in good order."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import signal
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import uvicorn

from outlast.domain.errors import CallerMistake, Conflict
from outlast.gateway.access import Access
from outlast.gateway.app import make_app
from outlast.gateway.crew import Crew
from outlast.gateway.doorway import Names
from outlast.gateway.pace import Pace
from outlast.gateway.site import Site
from outlast.gateway.streams import Streams
from outlast.wiring.engine import Engine

LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "::1")

CLOSE_SECONDS: Final = 5.0
"""How long requests that are being answered may take once the gateway is told to stop."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a gateway listens, and how many workers it has."""

    host: str
    port: int
    workers: int


class Serving:
    """A gateway on an open engine: listens from the moment it is made, answers while it runs.

    Raises Conflict (`port_in_use`) and CallerMistake (`bad_address`, `token_needed`) before anything is done.
    """

    def __init__(self, engine: Engine, place: Place) -> None:
        self.site = _site(engine, place)
        self._listener = _listening(place.host, place.port)
        self.address = _address(place.host, self._listener)
        names = Names(LOOPBACK_NAMES, any_address=not is_loopback(place.host))
        self._server = _Server(
            uvicorn.Config(
                make_app(self.site, names),
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=int(CLOSE_SECONDS),
            )
        )

    async def run(self) -> None:
        """Work and answer until told to stop; then answer no more, tell the streams, and hand the runs back."""
        self.site.crew.start()
        try:
            await self._server.serve([self._listener])
        finally:
            self._listener.close()
            self.site.crew.stop()
            await self.site.crew.ended()

    def stop(self) -> None:
        """Stop in good order; told again, at once."""
        if self.site.closing.is_set():
            self.site.crew.hurry()
            self._server.force_exit = True
            return
        self.site.closing.set()
        self._server.should_exit = True
        self.site.crew.stop()


async def serve(
    engine: Engine, place: Place, listening: Callable[[str], None], tell: Callable[[str], None]
) -> None:
    """Serve an open engine until SIGINT or SIGTERM, a second one ends it at once. `listening` is called with the address.

    Raises what `Serving` raises.
    """
    serving = Serving(engine, place)

    def stop() -> None:
        if not serving.site.closing.is_set():
            tell("Stopping: calls in flight may end (once more: at once).")
        serving.stop()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    listening(serving.address)
    try:
        await serving.run()
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def is_loopback(host: str) -> bool:
    """Does an address reach this machine only?"""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _site(engine: Engine, place: Place) -> Site:
    settings = engine.settings.gateway
    token = settings.token.resolve(engine.environ) if settings.token is not None else None
    if token is None and not is_loopback(place.host):
        raise CallerMistake(
            "token_needed",
            f"{place.host} can be reached from other machines, and nobody has a token.",
            "Set gateway.token, or listen on 127.0.0.1.",
        )
    rate = settings.max_requests_per_second
    return Site(
        engine=engine,
        access=Access(token, Pace(rate, int(2 * rate), time.monotonic)),
        streams=Streams(settings.max_streams_per_user),
        crew=Crew(engine, place.workers),
    )


class _Server(uvicorn.Server):
    """uvicorn without its own signal handlers: signals mean more here than the end of the server."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _address(host: str, listener: socket.socket) -> str:
    port = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises Conflict (`port_in_use`) and CallerMistake (`bad_address`)."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind(address)
            made.listen(1024)
        except OSError:
            made.close()
            raise
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise Conflict(
                "port_in_use",
                f"Something listens on {host}:{port} already, perhaps another `outlast serve`.",
                "Use that one, end it, or choose another port: `outlast serve --port 0` takes any free one.",
            ) from error
        raise CallerMistake(
            "bad_address",
            f"It is not possible to listen on {host}:{port}: {error}.",
            "Choose another address.",
        ) from error
    made.setblocking(False)
    return made
