-- $1 queue, $2 holder, $3 length of the lease, $4 how many at most, $5 the reader's version.
WITH clock AS MATERIALIZED (
    SELECT clock_timestamp() AS now
),
due AS MATERIALIZED (
    SELECT entry.queue, entry.item, coalesce(entry.until, entry.due_at) AS ready_at
    FROM {schema}.queue_entries AS entry
    WHERE entry.queue = $1
        AND coalesce(entry.until, entry.due_at) <= (SELECT now FROM clock)
        AND coalesce((SELECT min_reader FROM {schema}.runs WHERE run_id = entry.item), 0) <= $5
    ORDER BY coalesce(entry.until, entry.due_at)
    LIMIT $4
    FOR NO KEY UPDATE OF entry SKIP LOCKED
)
UPDATE {schema}.queue_entries AS entry
SET generation = entry.generation + 1, holder = $2, until = clock.now + $3::interval, attempts = entry.attempts + 1, due_at = NULL, is_ripe = false
FROM due, clock
WHERE entry.queue = due.queue AND entry.item = due.item
RETURNING entry.item, entry.generation, entry.until, clock.now, entry.attempts, due.ready_at
