"""What a server must be before a store is kept on it."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from outlast.adapters.stores.redis.address import Address
from outlast.adapters.stores.redis.opening import SCHEMA, _check_version
from outlast.adapters.stores.redis.wire import Wire
from outlast.domain.errors import Broken, CallerMistake
from outlast.testing.contracts.store.samples import append, put
from outlast.testing.servers.redis import DURABLE, RedisServer
from tests.law import law
from tests.patience import PROMPT_SECONDS
from tests.unit.adapters.stores.redis.serving import ask, opened, served


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with served() as server:
        yield server


@contextmanager
def set_to(server: RedisServer, setting: str, value: str) -> Iterator[None]:
    assert ask(server.url, "CONFIG", "SET", setting, value) == b"OK"
    yield
    assert ask(server.url, "CONFIG", "SET", setting, DURABLE[setting]) == b"OK"


@contextmanager
def user(server: RedisServer, *rules: str) -> Iterator[str]:
    """The address with a user who has these rights."""
    assert ask(server.url, "ACL", "SETUSER", "ann", "reset", "on", ">canary", *rules) == b"OK"
    yield f"unix://ann:canary@{server.socket}"
    ask(server.url, "ACL", "DELUSER", "ann")


async def refusal(url: str, **options: Any) -> Broken:
    with pytest.raises(Broken) as refused:
        async with opened(url, **options):
            pass
    assert "canary" not in f"{refused.value}{refused.value.__cause__}"
    return refused.value


UNSAFE = [
    ("appendfsync", "everysec"),
    ("appendonly", "no"),
    ("no-appendfsync-on-rewrite", "yes"),
    ("maxmemory-policy", "allkeys-lru"),
]


@law("STORE-1.f")
@pytest.mark.parametrize(("setting", "value"), UNSAFE)
async def test_a_server_that_may_lose_is_refused_and_told_what_to_set(
    server: RedisServer, setting: str, value: str
) -> None:
    with set_to(server, setting, value):
        refused = await refusal(server.url)
        assert refused.code == "store_may_lose"
        assert f"{setting} {value}" in refused.detail
        assert f"{setting} {DURABLE[setting]}" in refused.next_step
        assert "allow_loss" in refused.next_step


@law("STORE-1.f")
@pytest.mark.parametrize(("setting", "value"), UNSAFE[:1])
async def test_losses_that_are_accepted_are_warned_of(server: RedisServer, setting: str, value: str) -> None:
    with set_to(server, setting, value):
        async with opened(server.url, allow_loss=True) as store:
            assert store.warning is not None
            assert f"{setting} {value}" in store.warning
            await put(store, append("r", 0))


async def test_a_server_that_loses_nothing_is_not_warned_of(server: RedisServer) -> None:
    async with opened(server.url, allow_loss=True) as store:
        assert store.warning is None
        assert store.server is not None
        assert re.fullmatch(rf"Valkey \d+\.\d+\.\d+ at {server.socket}", store.server)


@law("STORE-1.f")
async def test_a_server_that_does_not_tell_is_not_trusted(server: RedisServer) -> None:
    """As many who are rented; whoever knows better says so."""
    with user(server, "~*", "&*", "+@all", "-config") as url:
        refused = await refusal(url)
        assert refused.code == "store_may_lose"
        assert "check" in refused.detail
        assert "noeviction" in refused.next_step
        async with opened(url, allow_loss=True) as store:
            assert store.warning is not None
            assert "check" in store.warning


@pytest.mark.parametrize(
    ("rights", "said"),
    [
        (("~*", "&*", "+@all", "-zadd"), "ZADD"),
        (("~*", "&*", "+@all", "-hexists"), "HEXISTS"),
        (("~*", "resetchannels", "+@all"), "PUBLISH"),
        (("~elsewhere:*", "&*", "+@all"), "key"),
    ],
)
async def test_a_user_who_may_not_do_everything_is_refused_before_any_batch(
    server: RedisServer, rights: tuple[str, ...], said: str
) -> None:
    """A script that is refused half way would leave half a batch behind."""
    with user(server, *rights) as url:
        refused = await refusal(url)
        assert refused.code == "store_refused"
        assert said in refused.detail


async def test_a_wrong_password_is_not_tried_for_long(server: RedisServer) -> None:
    began = time.monotonic()
    refused = await refusal(f"unix://ann:canary@{server.socket}", patience_seconds=100)
    assert refused.code == "store_refused"
    assert "password" in refused.next_step
    assert time.monotonic() - began < PROMPT_SECONDS


async def test_a_newer_schema_is_left_alone(server: RedisServer) -> None:
    async with opened(server.url, "newer"):
        pass
    ask(server.url, "HSET", "{outlast:newer}:store", "schema", SCHEMA + 1)
    with pytest.raises(Broken) as refused:
        async with opened(server.url, "newer"):
            pass
    assert refused.value.code == "store_newer"


def test_an_old_server_is_refused() -> None:
    wire = Wire(Address.of("redis://db.example"), 1)
    _check_version(wire, b"# Server\r\nredis_version:6.2.0\r\n")
    with pytest.raises(Broken, match=r"Redis 6\.0") as refused:
        _check_version(wire, b"# Server\r\nredis_version:6.0.16\r\n")
    assert "6.2" in refused.value.next_step


@pytest.mark.parametrize(
    "url",
    ["", "db.example:6379", "http://db.example", "redis://h/0?socket_timeout=soon", "redis://h?nonsense=1"],
)
def test_an_address_that_is_none_is_a_mistake(url: str) -> None:
    with pytest.raises(CallerMistake) as refused:
        Address.of(url)
    assert refused.value.code == "store_url"


def test_an_address_keeps_its_password_to_itself() -> None:
    address = Address.of("rediss://ann:canary@db.example:6380/3")
    assert repr(address) == "Address(name='db.example:6380')"
    assert address.options["db"] == 3
