"""What a claim costs is counted in the rows that the server goes through, by its own statistics of the transaction."""

from datetime import timedelta

import pytest

from outlast.adapters.stores.postgres import PostgresStore
from outlast.adapters.stores.postgres.address import read_address
from outlast.adapters.stores.postgres.link import Dialer, Link
from outlast.adapters.stores.postgres.queries import query
from outlast.ports.queue import Enqueue, Shares

READ = """
SELECT coalesce(sum(pg_stat_get_xact_tuples_returned(oid)), 0)
FROM pg_class
WHERE relnamespace = '{schema}'::regnamespace AND relname LIKE 'queue_entries%'
"""


async def rows_of_a_claim(link: Link, users: int | None) -> int:
    """Of a claim of four entries, which is rolled back."""
    transaction = link.connection.transaction()
    await transaction.start()
    before = await link.value(READ)
    taken = await link.rows(query("claim_by_shares"), "runs", "w", timedelta(minutes=1), 4, 1, users, None)
    assert len(taken) == 4
    after = await link.value(READ)
    await transaction.rollback()
    return int(after) - int(before)


@pytest.mark.parametrize("per_user", [None, 3])
async def test_a_claim_costs_what_is_due_and_not_what_waits(
    postgres_store_url: str, per_user: int | None
) -> None:
    store = PostgresStore(postgres_store_url)
    await store.open()
    now = await store.now()
    await store.commit([Enqueue("runs", f"d{n}", now, f"d{n % 10}", "due") for n in range(20)])
    await store.claim("runs", "w", 60, limit=1, shares=Shares())
    link = await Dialer(read_address(postgres_store_url), 30).dial()
    few = await rows_of_a_claim(link, per_user)
    later = now + timedelta(days=1)
    for first in range(0, 2000, 500):
        waiting = range(first, first + 500)
        await store.commit([Enqueue("runs", f"w{n}", later, f"w{n}", "waits") for n in waiting])
    many = await rows_of_a_claim(link, per_user)
    await link.close()
    await store.close()
    assert many < 1.2 * few, (few, many)


async def test_a_claim_for_one_user_alone_looks_at_nobodys_leases(postgres_store_url: str) -> None:
    store = PostgresStore(postgres_store_url)
    await store.open()
    now = await store.now()
    await store.commit([Enqueue("runs", f"d{n}", now, "ann", "due") for n in range(600)])
    link = await Dialer(read_address(postgres_store_url), 30).dial()
    await store.claim("runs", "w", 60, limit=10, shares=Shares())
    few = await rows_of_a_claim(link, None)
    await store.claim("runs", "w", 60, limit=500, shares=Shares())
    await link.rows("VACUUM {schema}.queue_entries")  # the versions before are no rows to go through
    many = await rows_of_a_claim(link, None)
    await link.close()
    await store.close()
    assert many < few + 10, (few, many)
