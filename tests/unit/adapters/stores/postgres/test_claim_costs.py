"""What a claim costs is counted in the rows that the server goes through, by its own statistics of the transaction."""

from datetime import timedelta

import pytest

from outlast.adapters.stores.postgres import PostgresStore
from outlast.adapters.stores.postgres.address import read_address
from outlast.adapters.stores.postgres.channels import Channels
from outlast.adapters.stores.postgres.encoding import encode
from outlast.adapters.stores.postgres.link import Dialer, Link
from outlast.adapters.stores.postgres.queues import Wish, claim
from outlast.adapters.stores.postgres.writes import write
from outlast.ports.batch import Committed
from outlast.ports.queue import Enqueue, Release, Shares

READ = """
SELECT coalesce(sum(pg_stat_get_xact_tuples_returned(oid)), 0)
FROM pg_class
WHERE relnamespace = '{schema}'::regnamespace AND relname LIKE 'queue_entries%'
"""


SHARES: dict[str, Shares] = {"by shares": Shares(), "by bounds": Shares(per_user=3)}


async def rows_of_a_claim(link: Link, shares: Shares) -> int:
    """Of a claim of four entries, which is rolled back."""
    transaction = link.connection.transaction()
    await transaction.start()
    before = await link.value(READ)
    taken = await claim(link, Wish("runs", "w", 60, 4, None, None, 1, shares))
    assert len(taken) == 4
    after = await link.value(READ)
    await transaction.rollback()
    return int(after) - int(before)


@pytest.mark.parametrize("known", ["nothing", "an empty queue", "a short queue", "what is there"])
@pytest.mark.parametrize("shares", SHARES)
async def test_a_claim_costs_what_is_due_and_not_what_waits(
    postgres_store_url: str, shares: str, known: str
) -> None:
    """Whatever the statistics say: a queue fills and empties faster than they are taken."""
    store = PostgresStore(postgres_store_url)
    await store.open()
    link = await Dialer(read_address(postgres_store_url), 30).dial()
    await link.rows("ALTER TABLE {schema}.queue_entries SET (autovacuum_enabled = false)")
    now = await store.now()
    if known == "an empty queue":
        await link.rows("ANALYZE {schema}.queue_entries")
    await store.commit([Enqueue("runs", f"d{n}", now, f"d{n % 10}", "due") for n in range(20)])
    await link.rows("UPDATE {schema}.queue_entries SET is_ripe = false WHERE item > 'd5'")
    await store.claim("runs", "w", 60, limit=1, shares=Shares())
    few = await rows_of_a_claim(link, SHARES[shares])
    if known == "a short queue":
        await link.rows("ANALYZE {schema}.queue_entries")
    later = now + timedelta(days=1)
    for first in range(0, 2000, 500):
        waiting = range(first, first + 500)
        await store.commit([Enqueue("runs", f"w{n}", later, f"w{n}", "waits") for n in waiting])
    if known == "what is there":
        await link.rows("ANALYZE {schema}.queue_entries")
    many = await rows_of_a_claim(link, SHARES[shares])
    await link.close()
    await store.close()
    assert many < few + 50, (few, many)


async def rows_of_giving_back(link: Link) -> int:
    """What the server goes through to give four leases back, which is rolled back as well."""
    transaction = link.connection.transaction()
    await transaction.start()
    held = await claim(link, Wish("runs", "w", 60, 4, None, None, 1, Shares()))
    before = await link.value(READ)
    back = tuple(Release("runs", one.item, one.generation, None) for one in held)
    assert await write(link, [encode(back, Channels("outlast", "me"), 7)]) == [Committed()]
    after = await link.value(READ)
    await transaction.rollback()
    return int(after) - int(before)


@pytest.mark.parametrize("known", ["nothing", "an empty queue", "what is there"])
async def test_giving_back_costs_what_is_given_back_and_not_what_waits(
    postgres_store_url: str, known: str
) -> None:
    store = PostgresStore(postgres_store_url)
    await store.open()
    link = await Dialer(read_address(postgres_store_url), 30).dial()
    await link.rows("ALTER TABLE {schema}.queue_entries SET (autovacuum_enabled = false)")
    if known == "an empty queue":
        await link.rows("ANALYZE {schema}.queue_entries")
    now = await store.now()
    await store.commit([Enqueue("runs", f"d{n}", now, "ann") for n in range(4)])
    few = await rows_of_giving_back(link)
    later = now + timedelta(days=1)
    for first in range(0, 2000, 500):
        waiting = range(first, first + 500)
        await store.commit([Enqueue("runs", f"w{n}", later, f"w{n}", "waits") for n in waiting])
    if known == "what is there":
        await link.rows("ANALYZE {schema}.queue_entries")
    many = await rows_of_giving_back(link)
    await link.close()
    await store.close()
    assert many < few + 20, (few, many)


@pytest.mark.parametrize("known", ["what is there", "only what waits"])
async def test_a_claim_for_one_user_alone_looks_at_nobodys_leases(
    postgres_store_url: str, known: str
) -> None:
    """Nor at what else is ripe, though the statistics say that whatever has a time is not."""
    store = PostgresStore(postgres_store_url)
    await store.open()
    link = await Dialer(read_address(postgres_store_url), 30).dial()
    now = await store.now()
    if known == "only what waits":
        await link.rows("ALTER TABLE {schema}.queue_entries SET (autovacuum_enabled = false)")
        later = now + timedelta(days=1)
        await store.commit([Enqueue("runs", f"w{n}", later, f"w{n}", "waits") for n in range(600)])
        await link.rows("ANALYZE {schema}.queue_entries")
        await link.rows("DELETE FROM {schema}.queue_entries")
        await link.rows("VACUUM {schema}.queue_entries")
    await store.commit([Enqueue("runs", f"d{n}", now, "ann", "due") for n in range(600)])
    await store.claim("runs", "w", 60, limit=10, shares=Shares())
    few = await rows_of_a_claim(link, Shares())
    await store.claim("runs", "w", 60, limit=500, shares=Shares())
    await link.rows("VACUUM {schema}.queue_entries")  # the versions before are no rows to go through
    many = await rows_of_a_claim(link, Shares())
    await link.close()
    await store.close()
    assert few < 50, few
    assert many < few + 10, (few, many)


async def test_a_claim_looks_at_nobody_elses_entries_though_only_one_user_was_known(
    postgres_store_url: str,
) -> None:
    """By the statistics all that is due is ann's, and so the index of times alone as good as that of users."""
    store = PostgresStore(postgres_store_url)
    await store.open()
    link = await Dialer(read_address(postgres_store_url), 30).dial()
    await link.rows("ALTER TABLE {schema}.queue_entries SET (autovacuum_enabled = false)")
    now = await store.now()
    await store.commit([Enqueue("runs", f"a{n}", now, "ann", "due") for n in range(600)])
    await link.rows("ANALYZE {schema}.queue_entries")
    await link.rows("DELETE FROM {schema}.queue_entries")
    await link.rows("VACUUM {schema}.queue_entries")
    earlier = now - timedelta(hours=1)
    await store.commit([Enqueue("runs", f"b{n}", earlier, "bob", "due") for n in range(600)])
    await store.commit([Enqueue("runs", f"a{n}", now, "ann", "due") for n in range(4)])
    rows = await rows_of_a_claim(link, Shares())
    await link.close()
    await store.close()
    assert rows < 100, rows
