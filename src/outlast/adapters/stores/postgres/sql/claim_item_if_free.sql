-- Guard: no live lease, or one of the generation $5 (NULL: none is taken over).
-- $1 queue, $2 holder, $3 length of the lease, $4 item, $6 the reader's version.
WITH clock AS MATERIALIZED (
    SELECT clock_timestamp() AS now
)
UPDATE {schema}.queue_entries AS entry
SET generation = entry.generation + 1, holder = $2, until = clock.now + $3::interval, attempts = entry.attempts + 1, due_at = NULL, is_ripe = false
FROM clock
WHERE entry.queue = $1
    AND entry.item = $4
    AND (entry.until IS NULL OR entry.until <= clock.now OR entry.generation = $5::bigint)
    AND coalesce((SELECT min_reader FROM {schema}.runs WHERE run_id = entry.item), 0) <= $6
RETURNING entry.item, entry.generation, entry.until, clock.now, entry.attempts, clock.now AS ready_at
