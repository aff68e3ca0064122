"""Where a gateway listens, and what it is called."""

from __future__ import annotations

import errno
import ipaddress
import socket
from typing import Final
from urllib.parse import urlsplit

from outlast.domain.errors import CallerMistake, Conflict

LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "::1")


def is_loopback(host: str) -> bool:
    """Does an address reach this machine only?"""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def public_name(url: str) -> str:
    """The name in gateway.public_url. Raises CallerMistake (`bad_public_url`)."""
    try:
        parts = urlsplit(url)
        name = parts.hostname if parts.scheme in ("http", "https") and parts.path in ("", "/") else None
    except ValueError:
        name = None
    if not name:
        detail = f"gateway.public_url is {url[:200]!r}, which is no address of a page."
        raise CallerMistake(
            "bad_public_url", detail, "Write it like https://outlast.example, without a path."
        )
    return name


def shown_address(host: str, port: int) -> str:
    """The address as people type it."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


def listening(host: str, port: int) -> socket.socket:
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
