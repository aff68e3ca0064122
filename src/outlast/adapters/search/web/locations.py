"""Which web addresses may be asked for at all, before any name is resolved."""

from __future__ import annotations

import re
from typing import Final

import httpx2

from outlast.domain.dataclass import dataclass
from outlast.domain.errors import ToolTrouble

MAX_ADDRESS_CHARS: Final = 4000

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_NOT_IN_AN_ADDRESS = re.compile(r"[\x00-\x20\x7f-\x9f\\\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Location:
    """An address that passed: where it leads, and whether config allows that host by name."""

    url: httpx2.URL
    host: str
    port: int
    is_allowed_by_name: bool

    @property
    def origin(self) -> str:
        """Scheme, host and port, as one text."""
        return f"{self.url.scheme}://{self.url.netloc.decode('ascii')}"


def location_of(address: str, allow_hosts: tuple[str, ...]) -> Location:
    """The place an `http` or `https` address names.

    Raises ToolTrouble (`fetch_refused`) for other schemes, user names, backslashes, spaces and control characters, and for ports
    other than 80 and 443 unless `host:port` is in `allow_hosts`. An entry without a port stands for ports 80 and 443.
    """
    if len(address) > MAX_ADDRESS_CHARS:
        raise refused(address, f"it is longer than {MAX_ADDRESS_CHARS} characters")
    if _NOT_IN_AN_ADDRESS.search(address):
        raise refused(address, "it has spaces, backslashes or control characters in it")
    try:
        url = httpx2.URL(address).copy_with(fragment=None)
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        raise refused(address, "it is not a valid address") from error
    if url.scheme not in _DEFAULT_PORTS:
        raise refused(address, "only http and https can be read")
    if url.userinfo or "@" in address.split("//", 1)[-1].split("/", 1)[0]:
        raise refused(address, "it has a user name in it")
    host = url.raw_host.decode("ascii").lower()
    if not host:
        raise refused(address, "it names no host")
    port = url.port or _DEFAULT_PORTS[url.scheme]
    is_allowed = _is_allowed(host, port, allow_hosts)
    if port not in _DEFAULT_PORTS.values() and not is_allowed:
        raise refused(address, f"port {port} is not 80 or 443")
    return Location(url, host, port, is_allowed)


def refused(address: str, reason: str) -> ToolTrouble:
    """The refusal of an address, saying how a person may allow it."""
    return ToolTrouble(
        "fetch_refused",
        f"The address {address[:200]!r} is refused: {reason}.",
        "Use another source. Whoever runs this can allow a host of their own under tools.web_fetch.allow_hosts, as host:port.",
    )


def _is_allowed(host: str, port: int, allow_hosts: tuple[str, ...]) -> bool:
    names = {f"[{host}]:{port}" if ":" in host else f"{host}:{port}"}
    if port in _DEFAULT_PORTS.values():
        names |= {host, f"[{host}]"}
    return any(entry.strip().lower() in names for entry in allow_hosts)
