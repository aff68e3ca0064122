"""Which IP addresses belong to the public internet, whatever they are wrapped in."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

_EMBEDDING: Final = tuple(
    ip_network(text)
    for text in (
        "::ffff:0:0/96",  # IPv4-mapped
        "::ffff:0:0:0/96",  # IPv4-translated
        "::/96",  # IPv4-compatible
        "64:ff9b::/96",  # NAT64
    )
)
"""IPv6 ranges whose last 32 bits are the IPv4 address that is really reached."""

_GLOBAL_UNICAST: Final = ip_network("2000::/3")
_SPECIAL: Final = tuple(
    ip_network(text)
    for text in (
        "0.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT, and some clouds' metadata
        "168.63.129.16/32",  # a cloud's host service on an address that looks public
        "192.0.0.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "198.18.0.0/15",
        "240.0.0.0/4",
        "2001::/23",  # protocol assignments, Teredo and ORCHID among them
        "2001:db8::/32",
        "2002::/16",  # 6to4: an IPv4 address inside
        "3fff::/20",
    )
)
_ISATAP: Final = frozenset({0x00005EFE, 0x02005EFE})


def is_public(address: str) -> bool:
    """May `address`, as a resolver gave it, be reached without being allowed by name?

    False for anything that is not plainly a public unicast address: private, loopback, link-local, shared, reserved,
    documentation and multicast ranges, cloud metadata services, and tunnels or translations that lead to such an address.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv6Address):
        return _is_public_6(parsed)
    return _is_public_4(parsed)


def _is_public_6(address: IPv6Address) -> bool:
    if address.scope_id is not None:
        return False
    if any(address in network for network in _EMBEDDING):
        return _is_public_4(IPv4Address(int(address) & 0xFFFFFFFF))
    is_tunnel = (int(address) >> 32) & 0xFFFFFFFF in _ISATAP
    return address in _GLOBAL_UNICAST and not is_tunnel and _is_ordinary(address)


def _is_public_4(address: IPv4Address) -> bool:
    return _is_ordinary(address)


def _is_ordinary(address: IPv4Address | IPv6Address) -> bool:
    is_special = (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )
    return address.is_global and not is_special and not any(address in network for network in _SPECIAL)
