"""Watches: precise, in this process and from others."""

from collections.abc import Iterator

import pytest

from outlast.adapters.stores.redis import RedisStore
from outlast.ports.queue import Enqueue, Release
from outlast.testing.contracts.store.samples import AT, append, put, start, take
from outlast.testing.servers.redis import RedisServer
from tests.patience import PATIENCE_SECONDS
from tests.unit.adapters.stores.redis.serving import ask, opened, served

TOPICS = ("r", "signals:r", "q", "queue:runs", "queue:polls")


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with served() as server:
        yield server


@pytest.mark.parametrize("is_own", [True, False])
async def test_a_commit_wakes_who_named_it_and_nobody_else(server: RedisServer, is_own: bool) -> None:
    name = f"precise-{is_own}"
    async with opened(server.url, name) as store, opened(server.url, name) as other:
        writer = store if is_own else other
        await start(store)
        claim = await take(store)
        watches = {topic: store.watch([topic]) for topic in TOPICS}
        last = store.watch(["last"])

        async def woken() -> set[str]:
            await put(writer, append("last", await store.read_head("last")))
            assert await last.wait(PATIENCE_SECONDS)  # so what came before it has been heard too
            return {topic for topic, watch in watches.items() if await watch.wait(0)}

        while await last.wait(0.1):  # everyone is woken when the subscription is made
            pass
        await woken()
        await put(writer, append("r", 0), Enqueue("polls", "p", AT, "ann"))
        assert await woken() == {"r", "signals:r", "queue:polls"}
        await put(writer, append("r", 1, generation=claim.generation))
        assert await woken() == {"r"}
        await put(writer, Release("runs", "r", claim.generation, None))
        assert await woken() == set()
        claim = await take(writer)
        await put(writer, Release("runs", "r", claim.generation, AT))
        assert await woken() == {"queue:runs"}


async def test_a_message_of_another_program_wakes_everyone(server: RedisServer) -> None:
    async with opened(server.url, "strange") as store:
        watch = store.watch(["r"])
        while await watch.wait(0.1):
            pass
        for message in ("not JSON", "[]", "7", '"text"', "[1]", "[[]]"):
            ask(server.url, "PUBLISH", "{outlast:strange}:wakeup", message)
            assert await watch.wait(PATIENCE_SECONDS), message


async def test_nobody_listens_until_somebody_watches(server: RedisServer) -> None:
    async with opened(server.url, "silent") as store:
        assert ask(server.url, "PUBSUB", "CHANNELS", "{outlast:silent}:*") == []
        watch = store.watch(["r"])
        assert await watch.wait(PATIENCE_SECONDS)
        assert ask(server.url, "PUBSUB", "CHANNELS", "{outlast:silent}:*") == [b"{outlast:silent}:wakeup"]


async def test_a_watch_from_before_the_store_was_opened_hears(server: RedisServer) -> None:
    async with opened(server.url, "early") as other:
        store = RedisStore(server.url, name="early")
        watch = store.watch(["r"])
        await store.open()
        while await watch.wait(0.1):
            pass
        await put(other, append("r", 0))
        assert await watch.wait(PATIENCE_SECONDS)
        await store.close()
        await store.open()
        while await watch.wait(0.1):
            pass
        await put(other, append("r", 1))
        assert await watch.wait(PATIENCE_SECONDS)
        await store.close()
