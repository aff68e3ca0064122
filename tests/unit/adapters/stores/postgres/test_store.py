"""The store in a process: its loops, its groups, what it tells and what it costs."""

import asyncio
import random
import threading
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from outlast.adapters.stores.postgres import PostgresStore
from outlast.adapters.stores.postgres.site import Site
from outlast.domain.errors import Broken, CallerMistake
from outlast.ports.batch import Committed, Guard, Refused
from outlast.ports.queue import Enqueue, Release
from outlast.ports.run_rows import InsertRun
from outlast.ports.stream import Append, PutPayload
from outlast.ports.thread_rows import InsertThread
from outlast.testing.contracts.store.samples import (
    AT,
    LEASE_SECONDS,
    append,
    events,
    put,
    run,
    start,
    take,
    thread,
)
from tests.law import law
from tests.patience import PATIENCE_SECONDS


@pytest.fixture
async def store(postgres_store_url: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(postgres_store_url)
    await store.open()
    yield store
    await store.close()


async def quiet(store: PostgresStore) -> None:
    """Wait until nothing is left to be told."""
    assert store._home is not None
    task = store._home.crier._task
    if task is not None:
        await task


@law("STORE-1.c")
async def test_a_round_of_two_commits_is_two_statements(store: PostgresStore) -> None:
    await start(store)
    claim = await take(store)
    assert store._home is not None
    store._home.crier.cry = lambda streams: None  # type: ignore[method-assign]  # what spectators are told costs one each 10 ms
    for head in range(0, 20, 2):
        before = store.counts()
        await put(store, append("r", head, generation=claim.generation))
        await put(store, append("r", head + 1, generation=claim.generation), PutPayload("r", "d", b"x"))
        after = store.counts()
        assert (after.statements - before.statements, after.commits - before.commits) == (2, 2)


async def test_what_many_runs_commit_at_once_is_a_few_statements(store: PostgresStore) -> None:
    claims = []
    for number in range(40):
        await start(store, f"r{number}")
        claims.append(await take(store, f"r{number}"))
    await quiet(store)
    before = store.counts().commits
    plain = [store.commit([append(claim.item, 0, 3, generation=claim.generation)]) for claim in claims]
    mixed = [store.commit([append(f"s{n}", n % 2), Enqueue("polls", f"s{n}", AT, "ann")]) for n in range(40)]
    stale = [store.commit([append(claim.item, 0, generation=9)]) for claim in claims[:20]]
    answers = await asyncio.gather(*plain, *mixed, *stale)
    assert answers[:40] == [Committed()] * 40
    assert answers[40:80] == [Committed(), Refused(Guard.POSITION, 0)] * 20
    assert all(isinstance(answer, Refused) for answer in answers[80:])
    assert store.counts().commits - before <= 8
    assert await store.read_events("r39") == list(events(3))


async def test_stores_opened_by_forks_of_one_process_mark_their_batches_differently(
    postgres_store_url: str,
) -> None:
    stores = [PostgresStore(postgres_store_url) for _ in range(2)]
    stores[1]._numbers.setstate(stores[0]._numbers.getstate())
    for store in stores:
        await store.open()
    drawn = {store._numbers.getrandbits(63) for store in stores}
    for store in stores:
        await store.close()
    assert len(drawn) == 2


async def test_entries_done_with_at_once_are_a_few_statements(store: PostgresStore) -> None:
    now = await store.now()
    await put(store, *[Enqueue("jobs", f"j{n}", now, "ann") for n in range(64)])
    claims = await store.claim("jobs", "w", 60, limit=64)
    before = store.counts()
    back = [Release("jobs", claim.item, claim.generation, None) for claim in claims]
    assert await store.commit(back[:32]) == Committed()
    assert store.counts().statements - before.statements == 1
    assert await asyncio.gather(*[store.commit([one]) for one in back[32:]]) == [Committed()] * 32
    assert store.counts().statements - before.statements <= 4


async def test_a_key_too_long_for_an_index_is_refused_alone(store: PostgresStore) -> None:
    """The server finds out, in a group; the others of the group are written."""
    signs = [chr(code) for code in range(0x4E00, 0x4E00 + 20_000)]
    noise = "".join(random.Random(7).sample(signs, 4000))
    await put(store, InsertThread(thread()))
    bad = store.commit([InsertRun(run("bad", key=noise))])
    good = [store.commit([append(f"s{n}", 0)]) for n in range(10)]
    trouble, *answers = await asyncio.gather(bad, *good, return_exceptions=True)
    assert isinstance(trouble, CallerMistake)
    assert trouble.code == "not_storable"
    assert answers == [Committed()] * 10
    assert await store.read_run("bad") is None


async def test_a_loop_that_hangs_does_not_hold_up_the_heartbeat(store: PostgresStore) -> None:
    """Leases are renewed from another loop on connections of their own."""
    await start(store)
    claim = await take(store)
    kept: list[set[str]] = []
    heartbeat = threading.Thread(target=lambda: kept.append(asyncio.run(store.renew([claim], LEASE_SECONDS))))
    heartbeat.start()
    heartbeat.join(30)  # this loop does nothing meanwhile
    assert kept == [{"r"}]


async def test_a_store_outlives_the_loop_that_used_it_and_opens_again(postgres_store_url: str) -> None:
    store = PostgresStore(postgres_store_url)
    for position in range(2):
        await store.open()
        await asyncio.to_thread(lambda at=position: asyncio.run(put(store, append("r", at))))
        assert await store.read_head("r") == position + 1
        await store.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("outlast-store")]


async def test_a_loop_with_a_residence_works_over_connections_of_its_own(store: PostgresStore) -> None:
    await start(store)
    watch = store.watch(["a"])
    assert await watch.wait(PATIENCE_SECONDS)  # woken once, for nobody listened before

    async def works() -> Site:
        async with store.residence(), store.residence():
            site = store._residences[asyncio.get_running_loop()]
            assert await store.read_head("r") == 0
            await asyncio.gather(*[put(store, append(name, 0)) for name in "abcde"])
            async with site.pool.link() as link:  # the next to be lent
                end, backend = "SELECT pg_terminate_backend($1)", link.backend
                assert backend is not None
                await site.do(lambda other: other.value(end, backend.pid))
            await put(store, append("a", 1))
        return site

    site = await asyncio.to_thread(lambda: asyncio.run(works()))
    assert not [thread for thread in threading.enumerate() if thread.name == "outlast-store-annex"]
    assert not store._residences
    assert not site.pool._idle
    assert await watch.wait(PATIENCE_SECONDS)
    watch.stop()
    assert [await store.read_head(name) for name in "abcde"] == [2, 1, 1, 1, 1]
    await put(store, append("r", 0))


async def test_a_residence_whose_loop_hangs_holds_up_no_other(store: PostgresStore) -> None:
    await start(store)
    claim = await take(store)
    is_in, may_go = threading.Event(), threading.Event()

    async def hangs() -> None:
        async with store.residence():
            await put(store, append("a", 0))
            is_in.set()
            may_go.wait(PATIENCE_SECONDS)

    hanging = asyncio.create_task(asyncio.to_thread(lambda: asyncio.run(hangs())))
    await asyncio.to_thread(is_in.wait, PATIENCE_SECONDS)
    assert await asyncio.to_thread(lambda: asyncio.run(store.renew([claim], LEASE_SECONDS))) == {"r"}
    assert await store.read_head("a") == 1
    may_go.set()
    await hanging


async def test_a_closed_store_has_no_residence(postgres_store_url: str) -> None:
    store = PostgresStore(postgres_store_url)
    await store.open()

    async def outlives() -> None:
        async with store.residence():
            await put(store, append("r", 0))
            await store.close()
            with pytest.raises(Broken):
                await put(store, append("r", 1))
        with pytest.raises(Broken):
            async with store.residence():
                raise AssertionError

    await asyncio.to_thread(lambda: asyncio.run(outlives()))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("outlast-store")]


async def test_another_handle_is_heard_precisely(store: PostgresStore, postgres_store_url: str) -> None:
    other = PostgresStore(postgres_store_url)
    await other.open()
    watches = [
        store.watch([topic]) for topic in ("r", "signals:r", "queue:runs", "q", "signals:q", "queue:polls")
    ]
    for watch in watches:
        assert await watch.wait(PATIENCE_SECONDS)  # woken once, for nobody listened before
    await put(other, append("r", 0), Enqueue("runs", "r", AT, "ann"))
    assert [await watch.wait(PATIENCE_SECONDS) for watch in watches[:3]] == [True] * 3
    await take(other)
    await put(other, replace(append("r", 1), generation=1))
    assert await watches[0].wait(PATIENCE_SECONDS)
    await put(other, Release("runs", "r", 1, AT))
    assert await watches[2].wait(PATIENCE_SECONDS)
    assert [await watch.wait(0) for watch in watches] == [False] * 6
    for watch in watches:
        watch.stop()
    await other.close()


async def test_what_is_told_last_is_heard_though_its_teller_closes(
    store: PostgresStore, postgres_store_url: str
) -> None:
    watch = store.watch(["r"])
    while await watch.wait(0.1):
        pass
    for position in range(3):
        other = PostgresStore(postgres_store_url)
        await other.open()
        await put(other, Append("r", position, events(1, position)))
        await other.close()
        assert await watch.wait(PATIENCE_SECONDS)
    watch.stop()
