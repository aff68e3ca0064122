"""The scripts and the keys they make."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import outlast.adapters.stores.redis as room
from outlast.adapters.stores.redis import encoding, scripts
from outlast.adapters.stores.redis.decoding import event
from outlast.adapters.stores.redis.writer import REMEMBERED_SECONDS
from outlast.adapters.stores.times import from_micros
from outlast.domain.errors import CallerMistake
from outlast.ports.batch import Item
from outlast.ports.stream import EventRow, PutPayload
from outlast.testing.contracts.store.atomicity import _harmless, _prepare
from outlast.testing.contracts.store.samples import AT, append, put
from outlast.testing.servers.redis import RedisServer
from tests.unit.adapters.stores.redis.serving import ask, opened, served

FOLDER = Path(room.__file__).parent
LUA = sorted((FOLDER / "lua").glob("*.lua"))
CALLED = re.compile(r"redis\.p?call\('([A-Z]+)'")
TRIED = re.compile(r"\{ '([A-Z]+)'")


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with served() as server:
        yield server


@pytest.mark.parametrize("path", LUA, ids=lambda path: path.stem)
def test_every_file_is_part_of_a_script(path: Path) -> None:
    assert [script for script in scripts.BY_DIGEST.values() if path.read_text("utf-8") in script.text]


def test_every_command_of_a_script_is_tried_at_open() -> None:
    tried = set(TRIED.findall((FOLDER / "lua" / "open.lua").read_text("utf-8")))
    called = {command for path in LUA for command in CALLED.findall(path.read_text("utf-8"))}
    assert called - tried == set()


def test_no_clock_but_the_servers_is_read() -> None:
    """So the clocks of workers may say what they like."""
    text = "\n".join(path.read_text("utf-8") for path in FOLDER.glob("*.py"))
    assert not re.search(r"datetime\.now|utcnow|time\.time\b|gettimeofday", text)


async def test_all_keys_of_a_store_share_one_slot(server: RedisServer) -> None:
    async with opened(server.url, "slots") as store:
        await _prepare(store)
        await put(store, *_harmless())
        keys: list[bytes] = ask(server.url, "KEYS", "*")
    assert len(keys) > 20
    assert [key for key in keys if not key.startswith(b"{outlast:slots}:")] == []


async def test_a_writer_is_forgotten_when_it_closes_or_is_heard_of_no_more(server: RedisServer) -> None:
    async with opened(server.url, "writers") as store:
        await put(store, append("r", 0))
        [key] = ask(server.url, "KEYS", "{outlast:writers}:writer:*")
        assert 0 < ask(server.url, "TTL", key) <= REMEMBERED_SECONDS
        await put(store, append("r", 1))
        assert ask(server.url, "HLEN", key) == 1
    assert ask(server.url, "KEYS", "{outlast:writers}:writer:*") == []


async def test_what_many_ask_at_once_goes_in_few_rounds(server: RedisServer) -> None:
    async with opened(server.url, "rounds") as store:
        await asyncio.gather(*[put(store, append(f"s{n}", 0)) for n in range(200)])
        assert store.counts().commits == store.counts().statements == 200
        assert store._writer is not None
        assert store._writer._round < 50


@pytest.mark.parametrize("kind", ["Noted", "", "a b\nc", "\u4f60\u597d"])
@pytest.mark.parametrize("body", ["{}", "", "\n 1 2 3\n", "\x00"])
def test_an_event_is_one_text(kind: str, body: str) -> None:
    row = EventRow(7, kind, 3, AT, body)
    assert event(7, encoding.event_text(row)) == row
    early = EventRow(7, kind, 3, from_micros(-1), body)
    assert event(7, encoding.event_text(early)) == early


@pytest.mark.parametrize("value", [1 << 63, -(1 << 63) - 1, 10**400])
def test_a_number_beyond_64_bits_is_refused(value: int) -> None:
    with pytest.raises(CallerMistake) as refused:
        encoding.number(value)
    assert refused.value.code == "not_storable"


def test_a_batch_that_no_server_takes_is_refused_before_it_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "_MOST_BYTES", 1000)
    batch: list[Item] = [PutPayload("r", f"{n}", b"x" * 400) for n in range(3)]
    assert encoding.arguments(batch[:2])
    with pytest.raises(CallerMistake, match="512 MiB") as refused:
        encoding.arguments(batch)
    assert refused.value.code == "not_storable"
