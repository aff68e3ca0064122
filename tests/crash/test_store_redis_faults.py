"""A Redis that is killed, and connections that are cut: what was answered is there, and nothing is there twice."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from outlast.adapters.stores.redis import RedisStore
from outlast.adapters.stores.redis.scripts import COMMIT
from outlast.domain.errors import Broken
from outlast.ports.batch import Committed, Guard, Item, Refused
from outlast.ports.queue import Enqueue, Release
from outlast.ports.stream import Append, PutPayload
from outlast.testing.contracts.store.samples import append, bodies, events, put, start, take
from outlast.testing.servers.redis import Kind, RedisServer, find_binary
from tests.crash.tampering_proxy import Loss, TamperingProxy
from tests.law import law
from tests.patience import PATIENCE_SECONDS

COMMITS = COMMIT.digest.encode()


@pytest.fixture
def kind() -> Kind:
    return "valkey"


@pytest.fixture
def server(kind: Kind) -> Iterator[RedisServer]:
    with RedisServer(find_binary(kind)) as server:
        yield server


@asynccontextmanager
async def opened(url: str, patience_seconds: float = 10.0) -> AsyncIterator[RedisStore]:
    store = RedisStore(url, patience_seconds=patience_seconds)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def behind_proxy(
    server: RedisServer, patience_seconds: float = 10.0
) -> AsyncIterator[tuple[RedisStore, TamperingProxy]]:
    socket = server.socket.with_name("proxy.sock")
    async with TamperingProxy(socket, server.socket) as proxy, opened(proxy.url, patience_seconds) as store:
        yield store, proxy


def batch(stream: str, position: int) -> list[Item]:
    """An event, a payload and an entry, at the position the last one left."""
    digest = f"{stream}-{position + 1}"
    return [
        append(stream, position),
        PutPayload(stream, digest, b"y" * 500),
        Enqueue("runs", digest, events(1)[0].at, "ann"),
    ]


@pytest.mark.parametrize("kind", ["valkey", "redis"])
@law("RUN-3.b")
async def test_kill_nine_of_the_server_loses_nothing_that_was_answered(server: RedisServer) -> None:
    """The store waits until it is back; every batch is there once, in all its parts."""
    streams, count = ("a", "b", "c"), 60
    written, answered = 0, asyncio.Condition()

    async def write(store: RedisStore, stream: str) -> None:
        nonlocal written
        for position in range(count):
            assert await store.commit(batch(stream, position)) == Committed()
            async with answered:
                written += 1
                answered.notify_all()

    async with opened(server.url) as store:
        async with asyncio.TaskGroup() as writing:
            for stream in streams:
                writing.create_task(write(store, stream))
            for due in (20, 70, 120):
                async with answered:
                    await answered.wait_for(lambda due=due: written >= due)  # type: ignore[misc]
                await asyncio.to_thread(server.kill)
                await asyncio.to_thread(server.start)
        for stream in streams:
            assert await store.read_events(stream) == list(events(count))
            names = [f"{stream}-{n}" for n in range(1, count + 1)]
            assert len(await store.read_payloads(names)) == count
            entries = [await store.read_entry("runs", name) for name in names]
            assert None not in entries


@pytest.mark.parametrize("kind", ["valkey", "redis"])
@pytest.mark.parametrize("loss", Loss)
@law("RUN-3.b")
async def test_a_connection_cut_in_mid_commit_leaves_the_batch_written_once(
    server: RedisServer, loss: Loss
) -> None:
    """Whether the server heard of it or not, and also when it hears of it only afterwards."""
    async with behind_proxy(server) as (store, proxy):
        await put(store, append("r", 0))
        proxy.lose(COMMITS, loss, loss)
        assert (
            await store.commit([Append("r", 1, events(2, 1)), Enqueue("runs", "r", await store.now(), "ann")])
            == Committed()
        )
        await proxy.deliver()
        await put(store, append("r", 3))
        assert await store.read_events("r") == list(events(4))


@pytest.mark.parametrize("loss", Loss)
async def test_an_append_anywhere_is_not_written_twice_either(server: RedisServer, loss: Loss) -> None:
    """No position tells here whether it was written; the writer's slot does."""
    async with behind_proxy(server) as (store, proxy):
        proxy.lose(COMMITS, loss)
        commits = [store.commit([Append("r", None, events(1, body=json.dumps(n)))]) for n in range(20)]
        assert set(await asyncio.gather(*commits)) == {Committed()}
        await proxy.deliver()
        assert sorted(bodies(await store.read_events("r"))) == sorted(map(str, range(20)))


@pytest.mark.parametrize("loss", Loss)
async def test_a_refusal_whose_answer_was_lost_is_told_again(server: RedisServer, loss: Loss) -> None:
    async with behind_proxy(server) as (store, proxy):
        await start(store)
        claim = await take(store)
        await put(store, Release("runs", "r", claim.generation, None))
        proxy.lose(COMMITS, loss)
        assert await store.commit([append("r", 0, generation=claim.generation)]) == Refused(
            Guard.GENERATION, 0
        )
        await proxy.deliver()
        assert await store.read_head("r") == 0


async def test_a_commit_of_which_nothing_more_is_heard_is_unknown_and_never_written_late(
    server: RedisServer,
) -> None:
    """After patience has run out: the caller is told so, and what he reads next is final."""
    async with behind_proxy(server, 0.4) as (store, proxy):
        await put(store, append("r", 0))
        proxy.lose(COMMITS, Loss.LATE)
        doomed = asyncio.create_task(store.commit([append("r", 1)]))
        await proxy.lost.wait()
        away = proxy._upstream.rename(proxy._upstream.with_name("away.sock"))
        with pytest.raises(Broken) as unknown:
            await doomed
        assert unknown.value.code == "commit_unknown"
        with pytest.raises(Broken) as unsent:
            await store.commit([append("r", 1)])
        assert unsent.value.code == "store_unavailable"
        away.rename(proxy._upstream)
        assert await store.read_head("r") == 1
        await proxy.deliver()
        assert await store.read_head("r") == 1
        await put(store, append("r", 1))


async def test_reads_and_claims_outlast_a_cut_connection(server: RedisServer) -> None:
    """What may be asked twice is asked again."""
    async with behind_proxy(server) as (store, proxy):
        await start(store)
        proxy.lose(b"LLEN", Loss.REPLY, Loss.REQUEST)
        assert await store.read_head("r") == 0
        claim = await take(store)
        for loss in (Loss.REPLY, Loss.REQUEST):
            proxy.lose(b"3600000000", loss)
            assert await store.renew([claim], 3600) == {"r"}


@pytest.mark.parametrize("kind", ["valkey", "redis"])
async def test_scripts_that_the_server_has_forgotten_are_sent_again(server: RedisServer) -> None:
    async with opened(server.url) as store:
        await put(store, append("r", 0))
        for position in (1, 2):
            await store._write(("SCRIPT", "FLUSH"))
            answers = await asyncio.gather(
                *[store.commit([append(f"s{n}", position - 1)]) for n in range(10)]
            )
            assert answers == [Committed()] * 10
            await put(store, append("r", position))
        assert await store.read_head("r") == 3


async def test_what_was_committed_while_nobody_listened_is_looked_for(server: RedisServer) -> None:
    """Everyone is woken when the subscription is lost, and again when it is back."""
    async with opened(server.url) as store, opened(server.url) as other:
        watch = store.watch(["r"])
        while await watch.wait(0.1):
            pass
        await other._write(("CLIENT", "KILL", "TYPE", "pubsub"))
        assert await watch.wait(PATIENCE_SECONDS)
        await put(other, append("r", 0))
        assert await watch.wait(PATIENCE_SECONDS)
        while await watch.wait(0.1):
            pass
        await put(other, append("r", 1))
        assert await watch.wait(PATIENCE_SECONDS)


async def test_a_server_that_is_not_there_is_told_of_soon(tmp_path: Path) -> None:
    store = RedisStore(f"unix://{tmp_path}/none.sock", patience_seconds=0.5)
    with pytest.raises(Broken) as refused:
        await store.open()
    assert refused.value.code == "store_unavailable"
    assert "none.sock" in refused.value.detail
    assert "persistence.url" in refused.value.next_step
