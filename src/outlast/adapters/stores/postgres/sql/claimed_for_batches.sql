-- Leases for the batches that were written, once all of them are: a function sees what the command that calls it has changed so far,
-- and `written` is known only then. Equal wishes are one claim. Nothing comes after it: who holds the lock of the shares waits for
-- nobody's rows, and who wants several such locks takes them in the same order.
-- $1 to $8: place of the batch, how many at most, queue, holder, length of the lease, reader's version, and bounds of user and label
-- of each wish. `wish` is the place of the first of equal ones, from 1. Lists come from subqueries: a plan that does not know how
-- long they are is as good for any, so the server makes none for each.
wished AS MATERIALIZED (
    SELECT min(wish.place) AS place, wish.queue, wish.holder, wish.lease, wish.reader, wish.per_user, wish.per_label,
        sum(wish.how_many)::bigint AS how_many
    FROM unnest(
            (SELECT $1::integer[]),
            (SELECT $2::bigint[]),
            (SELECT $3::text[]),
            (SELECT $4::text[]),
            (SELECT $5::interval[]),
            (SELECT $6::bigint[]),
            (SELECT $7::bigint[]),
            (SELECT $8::bigint[])
        )
        WITH ORDINALITY AS wish (batch, how_many, queue, holder, lease, reader, per_user, per_label, place)
    WHERE wish.batch <> ALL ((SELECT all_but FROM written)::integer[])
    GROUP BY wish.queue, wish.holder, wish.lease, wish.reader, wish.per_user, wish.per_label
    ORDER BY wish.queue
),
claimed AS (
    SELECT wished.place AS wish, lease.item AS entry, lease.generation, lease.until, lease.store_now, lease.attempts
    FROM wished
    CROSS JOIN LATERAL {schema}.claim_by_shares(
        wished.queue, wished.holder, wished.lease, wished.how_many, wished.reader, wished.per_user, wished.per_label
    ) AS lease
)
