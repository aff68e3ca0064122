"""Serving: listens, works on runs, and on a signal ends both in good order."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import signal
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import uvicorn

from outlast.domain.access import SCOPES
from outlast.domain.dataclass import dataclass
from outlast.domain.errors import CallerMistake
from outlast.domain.ids import LOCAL_USER
from outlast.gateway.access import Access, Terms
from outlast.gateway.addresses import LOOPBACK_NAMES, is_loopback, listening, public_name, shown_address
from outlast.gateway.app import make_app
from outlast.gateway.crew import Crew
from outlast.gateway.doorway import Names
from outlast.gateway.pace import Pace
from outlast.gateway.site import Site
from outlast.gateway.streams import Streams
from outlast.service.access import CODE_SECONDS, Grant, issue
from outlast.service.shadow.report import ShadowReports
from outlast.service.stats import Statistics
from outlast.wiring.engine import Engine

CLOSE_SECONDS: Final = 5.0
"""How long requests that are being answered may take once the gateway is told to stop."""

SIGN_INS_PER_MINUTE: Final = 10
"""How often one machine may try to sign in."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a gateway listens, and how many workers it has."""

    host: str
    port: int
    workers: int


class Serving:
    """A gateway on an open engine: listens from the moment it is made, answers while it runs.

    Raises Conflict (`port_in_use`) and CallerMistake (`bad_address`, `bad_public_url`) before anything is done.
    """

    def __init__(self, engine: Engine, place: Place) -> None:
        settings, environ = engine.settings.gateway, engine.environ
        public = settings.public_url.resolve(environ) if settings.public_url is not None else None
        own_names = [*LOOPBACK_NAMES, *([public_name(public)] if public is not None else [])]
        self._listener = listening(place.host, place.port)
        self._engine = engine
        port: int = self._listener.getsockname()[1]
        self.bound = shown_address(place.host, port)
        self.address = public.rstrip("/") if public is not None else self.bound
        self.is_plain = not is_loopback(place.host) and not self.address.startswith("https:")
        names = Names(own_names, any_address=not is_loopback(place.host))
        self._is_exposed = public is not None or not is_loopback(place.host)
        is_open = settings.auth == "auto" and settings.token is None and not self._is_exposed
        self.site = _site(engine, place, _terms(engine, port, self.address, is_open=is_open))
        self.app = make_app(self.site, names)
        self._server = _Server(
            uvicorn.Config(
                self.app,
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=int(CLOSE_SECONDS),
            )
        )

    def close(self) -> None:
        """Listen no more, where `run` is not called. Safe to call twice."""
        self._listener.close()

    async def link(self) -> str:
        """Where to open the page: with a code that signs the person at this terminal in once, where one must sign in.

        Raises CallerMistake (`token_needed`) where others can reach this machine and nobody has a token.
        """
        if self.site.access.terms.is_open:
            return self.address
        store, now = self._engine.store, await self._engine.store.now()
        has_users = (await self.site.access.register.refresh()).has_users(now)
        if self._is_exposed and not has_users and self.site.access.terms.token is None:
            raise CallerMistake(
                "token_needed",
                f"{self.address} can be reached from other machines, and nobody has a token.",
                "Make one with `outlast token create --user NAME`, or listen on 127.0.0.1.",
            )
        code = Grant(
            user_id=LOCAL_USER,
            scopes=SCOPES,
            kind="code",
            label="the terminal of outlast serve",
            expires_at=now + timedelta(seconds=CODE_SECONDS),
        )
        return f"{self.address}/#code={(await issue(store, code, secrets.token_bytes(40))).secret}"

    async def run(self) -> None:
        """Work and answer until told to stop; then answer no more, tell the streams, and hand the runs back."""
        self.site.crew.start()
        try:
            await self._server.serve([self._listener])
        finally:
            self._listener.close()
            self.site.crew.stop()
            await self.site.crew.ended()
            self.site.aside.stop()

    def stop(self) -> None:
        """Stop in good order; told again, at once."""
        if self.site.closing.is_set():
            self.site.crew.hurry()
            self._server.force_exit = True
        self.site.closing.set()
        self._server.should_exit = True
        self.site.crew.stop()


async def serve(
    engine: Engine, place: Place, ready: Callable[[str, str], None], tell: Callable[[str], None]
) -> None:
    """Serve an open engine until SIGINT or SIGTERM, a second one ends it at once. `ready` is given the address and the link to open.

    Raises what `Serving` and its `link` raise.
    """
    serving = Serving(engine, place)
    try:
        link = await serving.link()
    except BaseException:
        serving.close()
        raise
    if serving.is_plain:
        tell(
            f"warning: {serving.address} is not encrypted: whoever is on the way can read tokens and answers. "
            "Put a proxy with TLS in front and set gateway.public_url."
        )

    def stop() -> None:
        if not serving.site.closing.is_set():
            tell("Stopping: calls in flight may end (once more: at once).")
        serving.stop()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    ready(serving.address, link)
    try:
        await serving.run()
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _site(engine: Engine, place: Place, terms: Terms) -> Site:
    settings = engine.settings.gateway
    rate = settings.max_requests_per_second
    pace = Pace(rate, int(2 * rate), time.monotonic)
    return Site(
        engine=engine,
        access=Access(engine.store, terms, pace, lambda: datetime.now(UTC)),
        sign_ins=Pace(SIGN_INS_PER_MINUTE / 60, SIGN_INS_PER_MINUTE, time.monotonic),
        streams=Streams(settings.max_streams_per_user),
        crew=Crew(engine, place.workers),
        statistics=Statistics(engine.store),
        shadows=ShadowReports(engine.store),
    )


def _terms(engine: Engine, port: int, address: str, *, is_open: bool) -> Terms:
    """Cookies are not kept apart by ports, so the name has the port; `__Host-` binds one to a name with TLS."""
    token = engine.settings.gateway.token
    is_secure = address.startswith("https:")
    return Terms(
        is_open=is_open,
        token=token.resolve(engine.environ) if token is not None else None,
        cookie="__Host-outlast_session" if is_secure else f"outlast_session_{port}",
        is_secure=is_secure,
    )


class _Server(uvicorn.Server):
    """uvicorn without its own signal handlers: signals mean more here than the end of the server."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
