"""Connections that break at every message, servers that go and come back: nothing is half written, and no answer is a guess."""

import asyncio

import asyncpg
import pytest

from outlast.adapters.stores.postgres import PostgresStore
from outlast.domain.errors import Broken
from outlast.ports.batch import Committed, Guard, Item, Refused
from outlast.ports.queue import Enqueue, Release
from outlast.ports.run_rows import UpdateRun
from outlast.ports.stream import Append, EventRow, PutPayload
from outlast.testing.contracts.store.samples import AT, LEASE_SECONDS, append, put, start, take
from outlast.testing.servers.postgres import PostgresServer
from tests.crash.postgres_stores import SCHEMA, cut, execute, opened
from tests.crash.postgres_wire import Cutter, Side, listening
from tests.law import law
from tests.patience import PATIENCE_SECONDS


async def warm(store: PostgresStore) -> None:
    """Let the connection know all three statements that write, so that the first answer is that to a commit."""
    head = await store.read_head("warm")
    if not head:
        await start(store, "warm")
        await take(store, "warm")
    assert await store.commit([append("warm", head, generation=1)]) == Committed()
    assert await store.commit([append("warm", head + 1)]) == Committed()
    assert await store.commit([Release("runs", "nobody's", 1, None)]) == Refused(Guard.GENERATION, 0)
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


async def test_a_read_that_takes_too_long_is_ended_on_the_server_too(
    postgres_server: PostgresServer, url: str
) -> None:
    """A server that was hung up on in the midst of a query would go on with it for nobody."""
    async with opened(url, answer_seconds=0.3, patience_seconds=0) as store:
        await put(store, append("r", 0))
        blocker = await asyncpg.connect(postgres_server.url)
        block = blocker.transaction()
        await block.start()
        await blocker.execute(f"LOCK TABLE {SCHEMA}.streams")
        try:
            with pytest.raises(Broken) as lost:
                await store.read_head("r")
            assert lost.value.code == "store_unavailable"
            waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            async with asyncio.timeout(PATIENCE_SECONDS):
                while await execute(postgres_server.url, waiting):
                    pass
        finally:
            await block.rollback()
            await blocker.close()
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
