"""A server that cannot serve just now, or not any more."""

import asyncio
from collections.abc import Iterator

import pytest

from outlast.domain.errors import Broken
from outlast.ports.batch import Committed
from outlast.ports.stream import PutPayload
from outlast.testing.contracts.store.samples import append, put
from outlast.testing.servers.redis import RedisServer
from tests.unit.adapters.stores.redis.serving import ask, opened, served


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with served() as server:
        yield server


async def test_a_full_server_says_so_and_nothing_is_half_written(server: RedisServer) -> None:
    async with opened(server.url) as store:
        await put(store, append("r", 0))
        ask(server.url, "CONFIG", "SET", "maxmemory", "1")
        with pytest.raises(Broken) as refused:
            await store.commit([append("r", 1), PutPayload("r", "a" * 64, b"content"), append("q", 0)])
        assert refused.value.code == "store_full"
        assert [await store.read_head(stream) for stream in ("r", "q")] == [1, 0]
        ask(server.url, "CONFIG", "SET", "maxmemory", "0")
        await put(store, append("r", 1))


async def test_a_primary_that_has_stepped_down_is_waited_for(server: RedisServer) -> None:
    """Until it is the primary again, or its address leads to the new one."""
    async with opened(server.url) as store, opened(server.url, patience_seconds=0.3) as hasty:
        await put(store, append("r", 0))
        ask(server.url, "REPLICAOF", "127.0.0.1", "1")
        commit = asyncio.create_task(store.commit([append("r", 1)]))
        with pytest.raises(Broken, match="replica") as refused:
            await hasty.commit([append("r", 0)])
        assert refused.value.code in {"store_unavailable", "commit_unknown"}
        assert not commit.done()
        ask(server.url, "REPLICAOF", "NO", "ONE")
        assert await commit == Committed()
        await put(hasty, append("r", 0))


async def test_keys_of_another_program_are_damage(server: RedisServer) -> None:
    async with opened(server.url, "foreign") as store:
        ask(server.url, "SET", "{outlast:foreign}:events:r", "text")
        with pytest.raises(Broken) as refused:
            await store.commit([append("r", 0)])
        assert refused.value.code == "store_damaged"


async def test_a_call_that_was_cancelled_is_done_all_the_same(server: RedisServer) -> None:
    """And harms nobody."""
    async with opened(server.url) as store:
        commits = [asyncio.create_task(store.commit([append(f"s{n}", 0)])) for n in range(20)]
        await asyncio.sleep(0)
        commits[3].cancel()
        answers = await asyncio.gather(*commits, return_exceptions=True)
        assert answers.count(Committed()) == 19
        assert await store.read_head("s3") in {0, 1}
