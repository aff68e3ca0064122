"""Connections that break at every message, servers that go and come back: nothing is half written, and no answer is a guess."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from outlast.adapters.stores.postgres import PostgresStore
from outlast.domain.errors import Broken, OutlastError
from outlast.ports.store import (
    Append,
    Committed,
    Enqueue,
    EventRow,
    Guard,
    InsertRun,
    InsertThread,
    Item,
    PutPayload,
    Refused,
    Release,
    UpdateRun,
)
from outlast.testing.contracts.store.samples import AT, LEASE_SECONDS, append, put, run, start, take, thread
from outlast.testing.servers.postgres import PostgresServer
from tests.crash.postgres_wire import Cutter, Pooler, Side, listening
from tests.law import law

SCHEMA = "faults"


@pytest.fixture
async def url(postgres_server: PostgresServer) -> AsyncIterator[str]:
    """The address of an empty schema on the session's own server."""
    yield f"{postgres_server.url}&schema={SCHEMA}"
    await execute(postgres_server.url, f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")


@asynccontextmanager
async def opened(
    url: str, *, patience_seconds: float = 10.0, answer_seconds: float = 30.0
) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(url, patience_seconds=patience_seconds, answer_seconds=answer_seconds)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def cut(
    server: PostgresServer, *, answer_seconds: float = 30.0
) -> AsyncIterator[tuple[PostgresStore, Cutter]]:
    """A store whose connections a cutter relays, one for work at a time."""
    cutter = Cutter(server.folder)
    async with (
        listening(cutter.serve) as url,
        opened(f"{url}&schema={SCHEMA}&connections=1", answer_seconds=answer_seconds) as store,
    ):
        yield store, cutter


async def execute(url: str, sql: str, *arguments: object) -> list[asyncpg.Record]:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetch(sql, *arguments)  # type: ignore[no-any-return]
    finally:
        await connection.close()


async def warm(store: PostgresStore) -> None:
    """Let the connection know both statements that write, so that the first answer is that to a commit."""
    head = await store.read_head("warm")
    if not head:
        await start(store, "warm")
        await take(store, "warm")
    assert await store.commit([append("warm", head, generation=1)]) == Committed()
    assert await store.commit([append("warm", head + 1)]) == Committed()
    telling = store._home and store._home.crier._task
    if telling:
        await telling


def parts(name: str) -> list[Item]:
    """A batch whose parts can be told from outside: two streams, a payload and an entry."""
    event = EventRow(1, "Noted", 1, AT, "{}")
    return [
        Append(f"{name}-first", 0, (event,)),
        PutPayload(f"{name}-first", name, name.encode()),
        Enqueue("runs", name, AT, "ann"),
        Append(f"{name}-last", 0, (event,)),
    ]


async def parts_found(store: PostgresStore, name: str) -> list[bool]:
    return [
        await store.read_head(f"{name}-first") == 1,
        bool(await store.read_payloads([name])),
        await store.read_entry("runs", name) is not None,
        await store.read_head(f"{name}-last") == 1,
    ]


async def scene(store: PostgresStore, round_name: str) -> dict[str, str]:
    """What a program might do, and what each of its batches came to."""
    outcomes = {}

    async def commit(name: str, batch: list[Item]) -> None:
        outcomes[name] = type(await store.commit(batch)).__name__

    await commit(f"{round_name}-one", parts(f"{round_name}-one"))
    group = [commit(f"{round_name}-{n}", parts(f"{round_name}-{n}")) for n in range(3)]
    stale = f"{round_name}-stale"
    await asyncio.gather(*group, commit(stale, [*parts(stale), append(f"{stale}-last", 0)]))
    [claim] = await store.claim("runs", "w", LEASE_SECONDS, item=f"{round_name}-one") or [None]
    if claim is not None:  # the answer to a claim may be lost, and the lease with it
        held = append(claim.item, 0, 2, generation=claim.generation)
        assert await store.commit([held]) == Committed()
        assert await store.renew([claim], LEASE_SECONDS) == {claim.item}
        assert await store.read_head(claim.item) == 2
    return outcomes


@law("RUN-3.b")
@pytest.mark.parametrize("side", ["asked", "answered"])
async def test_a_connection_cut_at_any_message_leaves_nothing_half_written(
    postgres_server: PostgresServer, url: str, side: Side
) -> None:
    async with opened(url) as witness, cut(postgres_server) as (store, cutter):
        for at in range(1, 400):
            cutter.arm(side, at)
            outcomes = await scene(store, f"{side}{at}")
            for name, outcome in outcomes.items():
                expected = outcome == "Committed"
                assert await parts_found(witness, name) == [expected] * 4, f"{name} was told {outcome}"
                assert expected is not name.endswith("stale")
            if not cutter.struck.is_set():
                break
        assert at > 20


async def test_an_open_that_is_cut_says_so_and_may_be_tried_again(
    postgres_server: PostgresServer, url: str
) -> None:
    cutter = Cutter(postgres_server.folder)
    async with listening(cutter.serve) as relayed:
        store = PostgresStore(f"{relayed}&schema={SCHEMA}")
        for at in (1, 3, 12, 15, 20):
            cutter.arm("answered", at)
            with pytest.raises(Broken) as refused:
                await store.open()
            assert refused.value.code == "store_unavailable"
        cutter.arm("answered", 0)
        await store.open()
        await put(store, append("r", 0))
        await store.close()


async def test_a_commit_whose_answer_is_lost_is_found_in_the_journal(
    postgres_server: PostgresServer, url: str
) -> None:
    """Not done again: the events are there once, and a stale batch is still refused."""
    async with opened(url) as witness, cut(postgres_server) as (store, cutter):
        await start(store)
        claim = await take(store)
        batches: list[list[Item]] = [
            [append("r", 0, 2, generation=claim.generation)],
            [append("r", 2), Enqueue("runs", "r", AT, "ann")],
            [Append("r", None, (EventRow(1, "Noted", 1, AT, "{}"),))],
        ]
        for batch in batches:
            before = await witness.read_head("r")
            await warm(store)
            cutter.arm("answered", 1)
            assert await store.commit(batch) == Committed()
            assert cutter.struck.is_set()
            assert await witness.read_head("r") == before + len(batch[0].events)  # type: ignore[union-attr]
        await warm(store)
        cutter.arm("answered", 1)
        assert await store.commit([append("r", 0)]) == Refused(Guard.POSITION, 0)


async def test_a_connection_that_has_gone_silent_is_given_up(
    postgres_server: PostgresServer, url: str
) -> None:
    """Nobody says that it is broken; its answers just do not come."""
    async with opened(url) as witness, cut(postgres_server, answer_seconds=0.2) as (store, cutter):
        await warm(store)
        cutter.arm("answered", 1, deaf=True)
        assert await store.commit([append("r", 0)]) == Committed()
        assert cutter.struck.is_set()
        assert await witness.read_head("r") == 1
        assert await store.read_head("r") == 1


async def test_what_leaves_no_mark_is_done_again_or_left_open(
    postgres_server: PostgresServer, url: str
) -> None:
    """An enqueue is harmless twice; a release that is refused the second time may have held the first."""
    async with cut(postgres_server) as (store, cutter):
        await start(store)
        claim = await take(store)
        await warm(store)
        cutter.arm("answered", 1)
        assert await store.commit([Enqueue("polls", "r", AT, "ann")]) == Committed()
        await put(store, UpdateRun("r", "EXECUTING", True, None, AT, "{}", 1, claim.generation))
        unknown: list[Item] = [
            Release("runs", "r", claim.generation, None),
            UpdateRun("r", "FAILED", False, None, AT, "{}", 1),
        ]
        for item in unknown:
            await warm(store)
            cutter.arm("answered", 1)
            with pytest.raises(Broken) as open_ended:
                await store.commit([item])
            assert open_ended.value.code == "commit_unknown"
        entry, row = await store.read_entry("runs", "r"), await store.read_run("r")
        assert entry is not None
        assert entry.until is None
        assert row is not None
        assert row.state in {"EXECUTING", "FAILED"}


async def test_a_statement_that_still_waits_is_ended_before_the_journal_is_asked(
    postgres_server: PostgresServer, url: str
) -> None:
    """Given up by its client it would write later, when somebody has been told that it did not."""
    async with opened(url) as witness, opened(url, answer_seconds=0.3) as store:
        await put(witness, append("r", 0))
        blocker = await asyncpg.connect(postgres_server.url)
        block = blocker.transaction()
        await block.start()
        await blocker.execute(f"SELECT 1 FROM {SCHEMA}.streams WHERE stream = 'r' FOR UPDATE")
        commit = asyncio.create_task(store.commit([append("r", 1), PutPayload("r", "p", b"p")]))
        waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        while not (first := await execute(postgres_server.url, waiting)):
            pass
        while await execute(postgres_server.url, waiting) in ([], first):
            pass
        await block.rollback()
        await blocker.close()
        assert await commit == Committed()
        assert await witness.read_head("r") == 2


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
        assert await watch.wait(30)
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
            await watch.wait(5)
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
    async with opened(url) as witness, listening_pooler(postgres_server) as pooled:
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
            watch = store.watch(["s0"])
            await put(witness, append("s0", 1))
            assert await watch.wait(10)
            watch.stop()


@asynccontextmanager
async def listening_pooler(server: PostgresServer) -> AsyncIterator[str]:
    pooler = Pooler(server.folder)
    await pooler.start()
    async with listening(pooler.serve) as url:
        yield url
    await pooler.stop()


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
