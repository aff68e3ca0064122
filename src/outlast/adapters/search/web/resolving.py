"""Names to addresses, each checked before anything connects to it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

from outlast.adapters.search.web.addresses import is_public
from outlast.adapters.search.web.locations import Location, refused
from outlast.domain.errors import ToolTrouble

Resolver = Callable[[str, int], Awaitable[list[str]]]
"""Gives the IP addresses of a host name; the port is only a hint. Raises OSError when there are none."""


async def system_resolver(host: str, port: int) -> list[str]:
    """What the operating system's resolver says, which also reads the odd spellings of addresses (`127.1`, `0x7f.1`)."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def checked_addresses(location: Location, resolve: Resolver) -> list[str]:
    """The IP addresses to connect to for this location, every one of them public or allowed by name.

    One address that is not public refuses the whole name: a name that leads both outside and inside is an attack. Raises
    ToolTrouble (`fetch_refused`, or `fetch_failed` when there is no such host).
    """
    try:
        addresses = await resolve(location.host, location.port)
    except (OSError, UnicodeError) as error:
        raise ToolTrouble(
            "fetch_failed",
            f"The host {location.host!r} is not known ({error}).",
            "Check the address, or use another source.",
        ) from error
    if not addresses:
        raise ToolTrouble(
            "fetch_failed", f"The host {location.host!r} has no address.", "Use another source."
        )
    inside = [address for address in addresses if not is_public(address)]
    if inside and not location.is_allowed_by_name:
        raise refused(
            str(location.url), f"{location.host} leads to {inside[0]}, which is not a public address"
        )
    return addresses
