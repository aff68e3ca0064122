"""Servers that end their backends, restart, stay away, contend or stand behind a pooler: work goes on, and nothing is lost."""

import asyncio
import contextlib
import signal

import asyncpg
import pytest

from outlast.adapters.stores.postgres import PostgresStore
from outlast.domain.errors import Broken, OutlastError
from outlast.ports.batch import Committed, Guard, Refused
from outlast.ports.queue import Enqueue
from outlast.ports.run_rows import InsertRun
from outlast.ports.stream import Append, EventRow, PutPayload
from outlast.ports.thread_rows import InsertThread
from outlast.testing.contracts.store.samples import AT, LEASE_SECONDS, append, put, run, start, take, thread
from outlast.testing.servers.postgres import PostgresServer
from tests.crash.postgres_stores import SCHEMA, execute, listening_pooler, opened
from tests.law import law
from tests.patience import PATIENCE_SECONDS


@law("RUN-10.a")
async def test_terminated_backends_lose_nothing(postgres_server: PostgresServer, url: str) -> None:
    """Every backend of the store is ended again and again while it commits, claims and listens."""
    end = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"""
    async with opened(url) as store:
        watch = store.watch(["s0"])
        is_over = asyncio.Event()
        work = [asyncio.create_task(append_until(store, f"s{n}", is_over)) for n in range(4)]
        for _ in range(15):
            with contextlib.suppress(asyncpg.PostgresError, OSError):
                await execute(postgres_server.url, end)
            await watch.wait(0.05)
        is_over.set()
        heads = await asyncio.gather(*work)
        for number, head in enumerate(heads):
            positions = [event.position for event in await store.read_events(f"s{number}")]
            assert positions == list(range(1, head + 1))
        while await watch.wait(0.1):
            pass
        async with opened(url) as other:
            await put(other, append("s0", heads[0]))
        assert await watch.wait(PATIENCE_SECONDS)
        watch.stop()


async def append_until(store: PostgresStore, stream: str, is_over: asyncio.Event) -> int:
    """How many events were committed, one by one, each with an entry."""
    head = 0
    while not is_over.is_set() or head < 3:
        assert await store.commit([append(stream, head), Enqueue("runs", stream, AT, "ann")]) == Committed()
        head += 1
    return head


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
async def test_a_server_that_is_restarted_is_waited_for(
    postgres_server: PostgresServer, url: str, how: signal.Signals
) -> None:
    """In order and after a crash: what was answered is there, and work goes on."""
    async with opened(url) as store:
        is_over = asyncio.Event()
        work = [asyncio.create_task(append_until(store, f"s{n}", is_over)) for n in range(4)]
        watch = store.watch(["s3"])
        for _ in range(2):
            await watch.wait(PATIENCE_SECONDS)
            postgres_server.stop(how)
            await asyncio.sleep(0)
            postgres_server.start()
        is_over.set()
        heads = await asyncio.gather(*work)
        assert [await store.read_head(f"s{n}") for n in range(4)] == heads
        watch.stop()


async def test_a_server_that_stays_away_is_told_of_and_may_come_back(
    postgres_server: PostgresServer, url: str
) -> None:
    async with opened(url, patience_seconds=0.2) as store:
        await put(store, append("r", 0))
        postgres_server.stop()
        try:
            for work in (store.read_head("r"), store.commit([append("r", 1)]), store.claim("runs", "w", 1)):
                with pytest.raises(Broken) as away:
                    await work
                assert away.value.code in {"store_unavailable", "commit_unknown"}
                assert away.value.next_step
            with pytest.raises(Broken) as closed:
                await PostgresStore(url).open()
            assert closed.value.code == "store_unavailable"
        finally:
            postgres_server.start()
        head = await store.read_head("r")
        await put(store, append("r", head))


async def test_serialization_failures_are_tried_again(postgres_server: PostgresServer, url: str) -> None:
    """Where an administrator has made every transaction serializable."""
    await execute(
        postgres_server.url, "ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'"
    )
    try:
        async with opened(url) as store, opened(url) as other:
            await put(store, InsertThread(thread()))
            answers = await asyncio.gather(
                *[
                    (store, other)[n % 2].commit([Append("r", None, (EventRow(1, "Noted", 1, AT, "{}"),))])
                    for n in range(20)
                ],
                *[(store, other)[n % 2].commit([InsertRun(run(f"r{n}"))]) for n in range(6)],
            )
            assert answers[:20] == [Committed()] * 20
            assert sorted(map(str, answers[20:])) == sorted(
                map(str, [Committed(), *[Refused(Guard.THREAD_BUSY, 0)] * 5])
            )
            assert await store.read_head("r") == 20
    finally:
        await execute(postgres_server.url, "ALTER DATABASE postgres RESET default_transaction_isolation")


@pytest.mark.parametrize("is_told", [True, False])
async def test_a_transaction_pooler_may_stand_between(
    postgres_server: PostgresServer, url: str, *, is_told: bool
) -> None:
    """Named in the address, or noticed by what gets lost. Wake-ups come on a direct connection, else by looking."""
    async with opened(url) as witness, listening_pooler(postgres_server) as (pooled, pooler):
        note = "&pooler=transaction" if is_told else ""
        async with opened(f"{pooled}&schema={SCHEMA}{note}") as store:
            assert bool(store.warning) is is_told
            await start(store)
            claim = await take(store)
            answers = await asyncio.gather(
                *[store.commit([append(f"s{n}", 0), PutPayload("r", f"{n}", b"x")]) for n in range(20)],
                *[store.read_head("r") for n in range(20)],
                *[store.commit([append("r", n, generation=claim.generation)]) for n in range(1)],
            )
            assert answers == [*[Committed()] * 20, *[0] * 20, Committed()]
            assert (pooler.errors == 0) is is_told  # what got lost is how it is noticed
            watch = store.watch(["s0"])
            await put(witness, append("s0", 1))
            assert await watch.wait(PATIENCE_SECONDS)
            watch.stop()


async def test_many_connections_claim_each_entry_once(url: str) -> None:
    names = [f"r{n:03}" for n in range(150)]
    async with opened(url) as store:
        now = await store.now()
        await put(store, *[Enqueue("runs", name, now, "ann") for name in names])
        others = [PostgresStore(f"{url}&connections=2") for _ in range(6)]
        await asyncio.gather(*[other.open() for other in others])

        async def work(handle: PostgresStore) -> list[str]:
            taken: list[str] = []
            while claims := await handle.claim("runs", "w", LEASE_SECONDS, limit=4):
                taken += [claim.item for claim in claims]
            return taken

        shares = await asyncio.gather(*[work(other) for other in others for _ in range(2)])
        assert sorted(name for share in shares for name in share) == names
        await asyncio.gather(*[other.close() for other in others])


async def test_deadlocked_batches_are_tried_again(url: str) -> None:
    """Two that lock the same rows in opposite orders."""
    async with opened(url) as store, opened(url) as other:
        for _ in range(5):
            heads = [await store.read_head(stream) for stream in "ab"]
            both = [append("a", heads[0]), append("b", heads[1])]
            answers = await asyncio.gather(
                store.commit(both), other.commit(both[::-1]), return_exceptions=True
            )
            assert not [answer for answer in answers if isinstance(answer, OutlastError)]
            assert Committed() in answers
