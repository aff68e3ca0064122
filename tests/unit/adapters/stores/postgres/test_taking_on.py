"""Leases given back and taken on by one statement, whatever others do to the same rows meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from outlast.adapters.stores.postgres import PostgresStore
from outlast.adapters.stores.postgres.address import read_address
from outlast.adapters.stores.postgres.channels import Channels
from outlast.adapters.stores.postgres.encoding import Batch, encode
from outlast.adapters.stores.postgres.link import Dialer
from outlast.adapters.stores.postgres.wishes import claims_for, columns_of
from outlast.adapters.stores.postgres.writes import write
from outlast.ports.batch import Committed, Guard, Refused
from outlast.ports.queue import Claim, ClaimDue, Enqueue, Release, Shares
from outlast.testing.contracts.store.samples import AT, put, take
from tests.patience import PATIENCE_SECONDS

NEXT = ClaimDue("jobs", "w", 60)


@pytest_asyncio.fixture
async def store(postgres_store_url: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(postgres_store_url)
    await store.open()
    yield store
    await store.close()


async def test_a_lease_is_given_back_though_its_entry_was_just_changed(
    store: PostgresStore, postgres_url: str, postgres_schema: tuple[str, str]
) -> None:
    """Who changes it commits between the moment at which the statement begins and the one at which it gets the row."""
    now = await store.now()
    await put(store, *(Enqueue("jobs", item, now, "ann") for item in "ab"))
    held = await take(store, "a", "jobs")
    other = await asyncpg.connect(postgres_url)
    change = f"UPDATE {postgres_schema[1]}.queue_entries SET due_at = $1 WHERE item = 'a'"
    async with asyncio.timeout(PATIENCE_SECONDS):
        async with other.transaction():
            await other.execute(change, now + timedelta(hours=1))
            giving = asyncio.create_task(store.commit([Release("jobs", "a", held.generation, None), NEXT]))
            while not await _is_anyone_blocked(store):
                assert not giving.done(), "it did not wait"
        answer = await giving
    await other.close()
    assert isinstance(answer, Committed)
    assert [claim.item for claim in answer.claims] == ["b"]
    entry = await store.read_entry("jobs", "a")
    assert entry is not None
    assert (entry.until, entry.due_at) == (None, now + timedelta(hours=1))


async def _is_anyone_blocked(store: PostgresStore) -> bool:
    async def ask(link: Any) -> bool:
        return bool(await link.value("SELECT count(*) > 0 FROM pg_locks WHERE NOT granted"))

    return await store._do(ask)


@pytest.mark.parametrize("notes", ["same", "of each"])
async def test_a_batch_that_lost_a_lease_gives_none_back_and_takes_none_on(
    store: PostgresStore, postgres_store_url: str, notes: str
) -> None:
    """The others of its statement do, whether they say the same of each lease or not."""
    now = await store.now()
    await put(store, *(Enqueue("jobs", item, now, "ann") for item in "abcdefg"))
    held = {claim.item: claim.generation for claim in await store.claim("jobs", "w", 60, limit=5)}
    later = now + timedelta(days=1)

    def back(item: str, generation: int) -> Release:
        note, due_at = (
            ("same", later) if notes == "same" else (f"note of {item}", later if item < "c" else None)
        )
        return Release("jobs", item, generation, due_at, note, is_quiet=True)

    asked = ["ab", "cd", "e"]
    stale = {**held, "d": held["d"] + 1}
    batches = [
        encode((*[back(item, stale[item]) for item in items], NEXT), Channels("outlast", "me"), 7)
        for items in asked
    ]
    assert all(batch.releases and not batch.document for batch in batches)
    link = await Dialer(read_address(postgres_store_url), 30).dial()
    first, second, third = await write(link, batches)
    await link.close()
    assert second == Refused(Guard.GENERATION, 1)
    assert isinstance(first, Committed)
    assert isinstance(third, Committed)
    assert [claim.item for claim in (*first.claims, *third.claims)] == ["f", "g"]
    for item in "abcde":
        entry = await store.read_entry("jobs", item)
        assert entry is not None
        is_kept = item in "cd"
        assert (entry.until is not None) == is_kept
        if not is_kept:
            assert (entry.due_at, entry.note) == (back(item, 1).due_at, back(item, 1).note)


@pytest.mark.parametrize("lost", ["a", "ab", "abc"])
async def test_who_lost_leases_takes_nothing_on_however_many_they_are(
    store: PostgresStore, lost: str
) -> None:
    now = await store.now()
    await put(store, *(Enqueue("jobs", item, now, "ann") for item in "abcd"))
    held = await store.claim("jobs", "w", 60, limit=3)
    back = [Release("jobs", one.item, one.generation + (one.item in lost), None) for one in held]
    assert await store.commit([*back, NEXT]) == Refused(Guard.GENERATION, 0)
    other = await store.read_entry("jobs", "d")
    assert other is not None
    assert other.until is None


async def test_taking_on_is_one_statement_and_one_sync(store: PostgresStore) -> None:
    now = await store.now()
    await put(store, *(Enqueue("jobs", f"j{number}", now, "ann") for number in range(40)))
    answer = await store.commit([NEXT])
    before = store.counts()
    for _ in range(10):
        assert isinstance(answer, Committed)
        back = [Release("jobs", claim.item, claim.generation, None) for claim in answer.claims]
        answer = await store.commit([*back, NEXT])
    after = store.counts()
    assert (after.statements - before.statements, after.commits - before.commits) == (10, 10)


def test_what_equal_wishes_took_goes_to_them_in_their_order() -> None:
    """None to a batch that was refused; other wishes have their own."""

    def batch(*wishes: ClaimDue) -> Batch:
        return Batch((), 0, frozenset(), wishes=wishes)

    two, other = ClaimDue("jobs", "w", 60.0, 2), ClaimDue("jobs", "w", 60, 1, shares=Shares(per_user=1))
    batches = [batch(two), batch(NEXT), batch(other, NEXT), batch()]
    assert columns_of(batches)[:2] == [[0, 1, 2, 2], [2, 1, 1, 1]]

    def row(first: int, items: str) -> tuple[object, ...]:
        return (first, list(items), [1] * len(items), [1] * len(items), AT, AT)

    def claim(item: str) -> Claim:
        return Claim("jobs", item, 1, AT, AT, 1)

    found = [row(3, "x"), row(1, "abcd")]
    assert claims_for(batches, (), found) == [
        (claim("a"), claim("b")),
        (claim("c"),),
        (claim("x"), claim("d")),
        (),
    ]
    found = [row(2, "ab"), row(3, "x")]
    assert claims_for(batches, {0}, found) == [(), (claim("a"),), (claim("x"), claim("b")), ()]
