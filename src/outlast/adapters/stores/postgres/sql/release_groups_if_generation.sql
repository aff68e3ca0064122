-- Guard of each batch: all its leases are still held under their generations, or else none of them is given back. Due again at the
-- earlier of $5 and an enqueue since the claim.
-- $1 to $6: place of the batch, queue, item, generation, due time and note of each lease, no entry twice. Returns the places, from
-- 1, of the leases that are not held any more.
WITH given AS MATERIALIZED (
    SELECT *
    FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::timestamptz[], $6::text[])
        WITH ORDINALITY AS lease (batch, queue, item, generation, due_at, note, place)
),
held AS MATERIALIZED (
    SELECT given.*
    FROM given
    JOIN {schema}.queue_entries AS entry ON entry.queue = given.queue AND entry.item = given.item
    WHERE entry.generation = given.generation AND entry.until IS NOT NULL
    FOR NO KEY UPDATE OF entry
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
)
SELECT place FROM lost ORDER BY place
