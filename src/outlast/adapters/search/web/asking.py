"""One request to one checked address, and what came back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from importlib.metadata import version
from ipaddress import ip_address
from typing import Final

import httpx2

from outlast.adapters.search.web.bodies import ACCEPTED_ENCODINGS, read_body
from outlast.adapters.search.web.locations import Location, location_of, refused
from outlast.adapters.search.web.resolving import Resolver, checked_addresses
from outlast.domain.dataclass import dataclass
from outlast.domain.errors import ToolTrouble

MAX_REDIRECTS: Final = 5
USER_AGENT_NAME: Final = "outlast"

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_ACCEPTED: Final = (
    "text/html, application/xhtml+xml, application/pdf, text/*;q=0.9, application/json;q=0.8, */*;q=0.1"
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server sent: the body decoded and bounded, `is_cut` when there was more."""

    location: Location
    status: int
    media_type: str
    charset: str
    body: bytes
    is_cut: bool


class Asker:
    """Sends GET requests without cookies, proxies or credentials, each to an IP address that was checked just before.

    The connection goes to the checked address itself, with the name only in `Host` and in TLS, so a name that changes its mind
    between check and connection leads nowhere. Raises ToolTrouble for what is refused or fails.
    """

    def __init__(self, allow_hosts: tuple[str, ...], resolve: Resolver) -> None:
        self._allow_hosts = allow_hosts
        self._resolve = resolve
        self._client: httpx2.AsyncClient | None = None

    def location_of(self, address: str) -> Location:
        """The location an address names. Raises ToolTrouble (`fetch_refused`)."""
        return location_of(address, self._allow_hosts)

    async def ask(self, location: Location, limit_bytes: int) -> Answer | Location:
        """The answer, or where the server says to look instead."""
        addresses = await checked_addresses(location, self._resolve)
        async with self._connected(location, addresses) as response:
            if response.status_code in _REDIRECTS and "location" in response.headers:
                return self._next(location, response.headers["location"])
            encoding = response.headers.get("content-encoding", "")
            body, is_cut = await read_body(response.aiter_raw(), encoding, limit_bytes)
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        return Answer(
            location, response.status_code, media_type, response.charset_encoding or "", body, is_cut
        )

    async def close(self) -> None:
        """Give up the connections. Safe to call twice."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _next(self, location: Location, target: str) -> Location:
        try:
            return self.location_of(str(location.url.join(target)))
        except (httpx2.InvalidURL, ValueError) as error:
            raise refused(target, "the page leads to something that is not a valid address") from error

    @asynccontextmanager
    async def _connected(self, location: Location, addresses: list[str]) -> AsyncIterator[httpx2.Response]:
        """The response of the first of the addresses that can be connected to."""
        failure: httpx2.HTTPError | None = None
        for address in addresses:
            try:
                async with self._sent(location, address) as response:
                    yield response
                    return
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error
            except httpx2.HTTPError as error:
                failure = error
                break
        raise ToolTrouble(
            "fetch_failed",
            f"{location.origin} could not be read ({type(failure).__name__}: {failure}).",
            "Try again later, or use another source.",
        ) from failure

    @asynccontextmanager
    async def _sent(self, location: Location, address: str) -> AsyncIterator[httpx2.Response]:
        self._client = self._client or _client()
        literal = f"[{address}]" if ":" in address else address
        async with self._client.stream(
            "GET",
            location.url.copy_with(host=literal),
            headers={"Host": location.url.netloc.decode("ascii")},
            extensions={"sni_hostname": location.host},
        ) as response:
            _check_peer(location, response, address)
            yield response


def _client() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        headers={
            "User-Agent": f"{USER_AGENT_NAME}/{version('outlast')}",
            "Accept": _ACCEPTED,
            "Accept-Encoding": ACCEPTED_ENCODINGS,
        },
        # A jar that takes nothing: what one page sets is never told to another.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        trust_env=False,
        follow_redirects=False,
        # Connections are known by IP address here, so one kept open could be used for another name on the same address.
        limits=httpx2.Limits(max_keepalive_connections=0),
        # The deadline of the whole fetch bounds everything; a bound on every read would only hide a slow drip.
        timeout=None,
    )


def _check_peer(location: Location, response: httpx2.Response, address: str) -> None:
    stream = response.extensions.get("network_stream")
    peer = stream.get_extra_info("server_addr") if stream is not None else None
    if peer is None or ip_address(peer[0].partition("%")[0]) != ip_address(address.partition("%")[0]):
        raise refused(str(location.url), "the connection did not go to the address that was checked")
