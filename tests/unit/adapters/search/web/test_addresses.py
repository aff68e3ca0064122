"""What is not a public address is not reached, however it is written."""

import asyncio
import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.adapters.search.web.addresses import is_public
from outlast.adapters.search.web.locations import location_of
from outlast.adapters.search.web.resolving import checked_addresses, system_resolver
from outlast.adapters.search.web_fetch import HttpFetch
from outlast.domain.errors import ToolTrouble
from tests.law import law
from tests.patience import PATIENCE_SECONDS

INSIDE = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "168.63.129.16",
    "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1",
    "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "2001::1", "2001:0:7f00:1::", "2001:20::1", "2001:db8::1",
    "2002:7f00:1::", "2002:a9fe:a9fe::1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1",
    "ff02::1",
    "2606:4700::5efe:7f00:1", "2606:4700::200:5efe:7f00:1", "2606:4700::1%eth0", "not an address", "",
]  # fmt: skip
OUTSIDE = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "2606:4700:4700::1111",
    "2a00:1450::1",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
]

SPELLINGS = [
    "127.0.0.1", "127.1", "127.0.1", "0", "2130706433", "0x7f.1", "0x7f000001", "0177.0.0.1", "017700000001", "0x7f.0x0.0x0.0x1",
    "localhost", "LOCALHOST", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
    "[64:ff9b::7f00:1]", "169.254.169.254", "0xa9fea9fe", "2852039166", "0251.0376.0251.0376", "[::ffff:a9fe:a9fe]", "[fe80::1]",
    "[fd00:ec2::254]", "10.0.0.1", "192.168.1.1", "100.100.100.200", "168.63.129.16", "①②⑦.0.0.1", "127。0。0。1", "１２７.0.0.1",
    "127.0.0.1.", "0.0.0.0",
]  # fmt: skip
MALFORMED = [
    "http://user@127.0.0.1/", "http://example.com@127.0.0.1/", "http://127.0.0.1\\@example.com/", "http://example.com\\.evil/",
    "http://example.com\t/", "http://example.com/\r\nHost: x", "http://exa mple.com/", "http://example.com\x00/", "http:///path",
    "http://", "//example.com/", "example.com", "file:///etc/passwd", "ftp://example.com/", "gopher://example.com/",
    "data:text/plain,x",
    "javascript:alert(1)", "http://[::1/", "http://example.com:99999/", "http://example.com:-1/", "http://example.com:port/",
    "http://example.com:22/", "https://example.com:8443/", "http://example.com:6379/", "http://\ud800.com/",
    "http://" + "a" * 5000 + "/", "http://@/", "http://:80/",
]  # fmt: skip


@law("TOOL-8.l")
@pytest.mark.parametrize("address", INSIDE)
def test_these_addresses_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", OUTSIDE)
def test_these_addresses_are_public(address: str) -> None:
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_a_wrapped_address_is_as_public_as_what_it_wraps(inner: ipaddress.IPv4Address) -> None:
    for prefix in ("::ffff:", "64:ff9b::", "::ffff:0:"):
        assert is_public(f"{prefix}{inner}") == is_public(str(inner))


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_nothing_is_public_that_the_standard_library_calls_private(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    mapped = getattr(address, "ipv4_mapped", None) or address
    if mapped.is_private or mapped.is_loopback or mapped.is_link_local or mapped.is_multicast:
        wraps = address in ipaddress.ip_network("64:ff9b::/96") if address.version == 6 else False
        assert wraps or not is_public(str(address))


@law("TOOL-8.l")
@pytest.mark.parametrize("host", SPELLINGS)
async def test_no_spelling_of_an_inside_address_is_reached(host: str) -> None:
    fetch = HttpFetch(timeout_seconds=5)
    with pytest.raises(ToolTrouble) as caught:
        await fetch.fetch(f"http://{host}/latest/meta-data/")
    await fetch.close()
    assert caught.value.code in {"fetch_refused", "fetch_failed"}
    if caught.value.code == "fetch_failed":
        assert "is not known" in caught.value.detail


@pytest.mark.parametrize("address", MALFORMED)
async def test_malformed_addresses_are_refused_before_anything_is_looked_up(address: str) -> None:
    async def never(host: str, port: int) -> list[str]:
        raise AssertionError(f"looked up {host}:{port}")

    fetch = HttpFetch(resolve=never)
    with pytest.raises(ToolTrouble) as caught:
        await fetch.fetch(address)
    await fetch.close()
    assert caught.value.code == "fetch_refused"
    assert "allow_hosts" in caught.value.next_step


@given(st.text(max_size=60))
def test_any_text_is_a_location_or_refused(text: str) -> None:
    for address in (text, f"http://{text}", f"http://{text}/"):
        try:
            location = location_of(address, ())
        except ToolTrouble:
            continue
        else:
            assert location.url.scheme in {"http", "https"}
            assert location.port in {80, 443}
            assert location.host


async def test_one_inside_address_among_the_answers_refuses_the_name() -> None:
    async def both(host: str, port: int) -> list[str]:
        return ["93.184.216.34", "127.0.0.1"]

    with pytest.raises(ToolTrouble) as caught:
        await checked_addresses(location_of("http://example.com/", ()), both)
    assert caught.value.code == "fetch_refused"
    assert "127.0.0.1" in caught.value.detail


async def test_a_name_without_an_address_is_a_failure_not_a_refusal() -> None:
    async def nothing(host: str, port: int) -> list[str]:
        return []

    with pytest.raises(ToolTrouble) as caught:
        await checked_addresses(location_of("http://example.com/", ()), nothing)
    assert caught.value.code == "fetch_failed"


def test_allow_hosts_allows_exactly_what_it_names() -> None:
    allowed = ("127.0.0.1:8000", "[::1]:9000", "Wiki.internal")
    assert location_of("http://127.0.0.1:8000/x", allowed).is_allowed_by_name
    assert location_of("http://[::1]:9000/", allowed).is_allowed_by_name
    assert location_of("https://wiki.INTERNAL/", allowed).is_allowed_by_name
    assert not location_of("http://127.0.0.1/", allowed).is_allowed_by_name
    for address in (
        "http://127.0.0.1:8001/",
        "http://localhost:8000/",
        "http://wiki.internal:8000/",
        "http://127.1:8000/",
    ):
        with pytest.raises(ToolTrouble):
            location_of(address, allowed)


async def test_the_system_resolver_reads_odd_spellings_as_the_connection_would() -> None:
    assert await asyncio.wait_for(system_resolver("127.1", 80), PATIENCE_SECONDS) == ["127.0.0.1"]
