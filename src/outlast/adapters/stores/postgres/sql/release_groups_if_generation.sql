-- Guard of each batch: all its leases are still held under their generations, or else none of them is given back. Due again at the
-- earlier of $13 and an enqueue since the claim.
-- $1 to $8: see claimed_for_batches. $9 to $14: place of the batch, queue, item, generation, due time and note of each lease, no
-- entry twice. Returns the places, from 1, of the leases that are not held any more, and what was claimed for the other batches.
WITH given AS MATERIALIZED (
    SELECT *
    FROM unnest(
            (SELECT $9::integer[]),
            (SELECT $10::text[]),
            (SELECT $11::text[]),
            (SELECT $12::bigint[]),
            (SELECT $13::timestamptz[]),
            (SELECT $14::text[])
        )
        WITH ORDINALITY AS lease (batch, queue, item, generation, due_at, note, place)
),
held AS MATERIALIZED (
    SELECT given.*
    FROM given
    CROSS JOIN LATERAL (
        SELECT known.generation, known.until
        FROM {schema}.queue_entries AS known
        WHERE known.queue = given.queue AND known.item = given.item
        OFFSET 0 -- so that rows are found by their key and by nothing that the condition below would offer
        FOR NO KEY UPDATE
    ) AS entry
    WHERE entry.generation = given.generation AND entry.until IS NOT NULL
),
lost AS MATERIALIZED (
    SELECT given.batch, given.place FROM given WHERE given.place NOT IN (SELECT held.place FROM held)
),
released AS (
    UPDATE {schema}.queue_entries AS entry
    SET due_at = least(entry.due_at, held.due_at),
        holder = NULL,
        until = NULL,
        attempts = 0,
        note = held.note,
        is_ripe = coalesce(least(entry.due_at, held.due_at) <= clock_timestamp(), false)
    FROM held
    WHERE entry.queue = held.queue AND entry.item = held.item AND held.batch NOT IN (SELECT lost.batch FROM lost)
    RETURNING 1
),
written AS MATERIALIZED (
    SELECT coalesce(array_agg(batch), '{}') AS all_but FROM lost HAVING (SELECT count(*) FROM released) >= 0
),
{claimed}
SELECT place, NULL::bigint AS wish, NULL::text AS entry, NULL::bigint AS generation, NULL::timestamptz AS until,
    NULL::timestamptz AS store_now, NULL::bigint AS attempts
FROM lost
UNION ALL
SELECT NULL, claimed.* FROM claimed
