"""What every request passes before it is looked at: is it meant for us, does it come from our page, is its body one of ours?

A page of another site can make a browser send requests here, under our own name even (DNS rebinding). So the name in `Host` must be
one of ours, and a browser must say that the request comes from our own page. Bodies are JSON, so that no form can be one, and are
read whole within bounds before anything else happens.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outlast.domain.door import parse_json
from outlast.domain.errors import OutlastError
from outlast.gateway.problems import Refusal, problem_of

BODY_SECONDS: Final = 30.0
"""How long a client may take to send a body."""

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""What every response carries unless its route says otherwise."""

_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_OUR_PAGE: Final = frozenset({"same-origin", "none"})


class Doorway:
    """An application behind the checks that no route may forget."""

    def __init__(self, app: ASGIApp, *, names: Names, max_body_bytes: int) -> None:
        self._app = app
        self._names = names
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith("/api/"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        try:
            headers = Headers(scope=scope)
            self._names.check(headers)
            check_origin(scope["method"], scope["path"], headers)
            body = await self._body(scope, headers, receive)
        except OutlastError as error:
            await problem_of(error)(scope, receive, send_with_headers)
            return
        await self._app(scope, receive if body is None else _replayed(body, receive), send_with_headers)

    async def _body(self, scope: Scope, headers: Headers, receive: Receive) -> bytes | None:
        """The body of a request that has one, read whole and checked; None where none may be."""
        if scope["method"] in _SAFE:
            return None
        declared = headers.get("content-length", "0")
        if declared.isdigit() and int(declared) > self._max_body_bytes:
            raise self._too_large()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await self._received(receive)
        except TimeoutError:
            detail = f"The body did not arrive within {BODY_SECONDS:.0f} seconds."
            raise Refusal(
                "body_too_slow", detail, "Send it faster, or in a smaller request.", status=408
            ) from None
        if body:
            _check_json(body, headers.get("content-type", ""))
        return body

    async def _received(self, receive: Receive) -> bytes:
        body = bytearray()
        while True:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > self._max_body_bytes:
                raise self._too_large()
            if message["type"] != "http.request" or not message.get("more_body", False):
                return bytes(body)

    def _too_large(self) -> Refusal:
        detail = f"The body has more than {self._max_body_bytes} bytes."
        step = "Put the material into files and name them in the input."
        return Refusal("body_too_large", detail, step, status=413, headers={"Connection": "close"})


class Names:
    """The names under which this gateway may be addressed; `any_address` says that every numeric address is one of them."""

    def __init__(self, names: Iterable[str], *, any_address: bool) -> None:
        self._names = frozenset(name.lower() for name in names)
        self._any_address = any_address

    def check(self, headers: Headers) -> None:
        """Raise Refusal (`foreign_host`) for a request that is addressed to somebody else."""
        hosts = headers.getlist("host")
        host = host_in(hosts[0]) if len(hosts) == 1 else ""
        if host in self._names or (self._any_address and is_address(host)):
            return
        detail = f"This server is not {hosts[0][:80] if hosts else 'without a name'}."
        raise Refusal(
            "foreign_host",
            detail,
            "Use the address that `outlast serve` printed, or set gateway.public_url.",
            status=421,
        )


def check_origin(method: str, path: str, headers: Headers) -> None:
    """Raise Refusal (`foreign_origin`) for a request that a page of another site made a browser send.

    A browser says where a request comes from; programs say nothing and pass. Another site may link to the page, no more.
    """
    site = headers.get("sec-fetch-site", "none")
    is_link = method == "GET" and not path.startswith("/api/") and headers.get("sec-fetch-mode") == "navigate"
    origins = headers.getlist("origin")
    is_ours = all(_netloc(origin) == headers.get("host", "").lower() for origin in origins)
    if (site in _OUR_PAGE or is_link) and is_ours and len(origins) <= 1:
        return
    detail = f"The request comes from another site ({(origins or [site])[0][:80]})."
    raise Refusal(
        "foreign_origin",
        detail,
        "Use the page that this server gives, or a program with a token.",
        status=403,
    )


def host_in(header: str) -> str:
    """The name in a Host header, without its port, lowercase; empty when it is none."""
    try:
        parts = urlsplit(f"//{header}")
        return (
            parts.hostname or ""
            if parts.path == parts.query == parts.fragment == "" and "@" not in header
            else ""
        )
    except ValueError:
        return ""


def is_address(host: str) -> bool:
    """Is this a numeric address? No name server can make one of them ours."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _netloc(origin: str) -> str:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return ""
    return parts.netloc.lower() if parts.scheme in ("http", "https") else ""


def _check_json(body: bytes, content_type: str) -> None:
    """Raise Refusal (`not_json`), CallerMistake or ModelMistake (`invalid_json`) for a body that is none of ours."""
    if content_type.partition(";")[0].strip().lower() != "application/json":
        detail = f"The body is {content_type[:80] or 'of no named type'}; only JSON is taken."
        raise Refusal("not_json", detail, "Send JSON with Content-Type: application/json.", status=415)
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise Refusal("not_json", "The body is not UTF-8 text.", "Send JSON in UTF-8.", status=400) from None
    parse_json(text)


def _replayed(body: bytes, receive: Receive) -> Receive:
    is_read = False

    async def replay() -> Message:
        nonlocal is_read
        if is_read:
            return await receive()
        is_read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
