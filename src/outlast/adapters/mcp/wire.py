"""HTTP under the client library: bounded, and one failed request never takes the connection of the others down.

The library ends a whole connection, every call on it included, when one request cannot be sent or its answer breaks off. Here such
a request gets a made-up response instead, and what really happened is noted in its exchange.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import httpx2

from outlast.adapters.mcp.exchange import CURRENT, SESSION_HEADER, Exchange
from outlast.adapters.mcp.lines import MOST_MESSAGE_BYTES

CONNECT_SECONDS: Final = 10.0

_MADE_UP_STATUS: Final = 599


class NotingTransport(httpx2.AsyncBaseTransport):
    """Sends requests, notes in their exchanges what became of them, and raises nothing that would end the connection."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response, or one of status 599 where there is none."""
        exchange = CURRENT.get() or Exchange()
        if exchange.is_session_given and exchange.session is not None:
            request.headers[SESSION_HEADER] = exchange.session
        else:
            exchange.session = request.headers.get(SESSION_HEADER)
        exchange.is_complete = False
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            exchange.failure = error
            exchange.was_sent = exchange.was_sent or not isinstance(error, _NEVER_SENT)
            return httpx2.Response(_MADE_UP_STATUS, request=request)
        exchange.was_sent = True
        exchange.status = response.status_code
        exchange.retry_after = response.headers.get("retry-after")
        exchange.session = response.headers.get(SESSION_HEADER, exchange.session)
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            exchange.is_compressed = True
            await response.aclose()
            return httpx2.Response(_MADE_UP_STATUS, request=request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _BoundedStream(response.stream, exchange)
        return response

    async def aclose(self) -> None:
        """Close what is below."""
        await self._inner.aclose()


_NEVER_SENT: Final = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.UnsupportedProtocol,
)


class _BoundedStream(httpx2.AsyncByteStream):
    """A body that ends, instead of raising, where it breaks off or is too large."""

    def __init__(self, inner: httpx2.AsyncByteStream, exchange: Exchange) -> None:
        self._inner = inner
        self._exchange = exchange

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MOST_MESSAGE_BYTES
        try:
            async for part in self._inner:
                left -= len(part)
                if left < 0:
                    self._exchange.is_too_large = True
                    return
                yield part
        except httpx2.TransportError as error:
            self._exchange.failure = error
        else:
            self._exchange.is_complete = True

    async def aclose(self) -> None:
        await self._inner.aclose()


def client(headers: dict[str, str], auth: httpx2.Auth | None) -> httpx2.AsyncClient:
    """The HTTP client of one connection. Every request has a deadline of its own, so reading has none here.

    Bodies are asked for uncompressed, and refused when they are not, so that their bound holds; proxies of the environment are not
    used.
    """
    return httpx2.AsyncClient(
        headers={"accept-encoding": "identity", **headers},
        auth=auth,
        timeout=httpx2.Timeout(CONNECT_SECONDS, read=None),
        transport=NotingTransport(httpx2.AsyncHTTPTransport()),
        trust_env=False,
    )
