-- $1 queues, $2 items, $3 generations, $4 length of the lease.
WITH clock AS MATERIALIZED (
    SELECT clock_timestamp() AS now
)
UPDATE {schema}.queue_entries AS entry
SET until = clock.now + $4::interval, is_ripe = false
FROM clock, unnest($1::text[], $2::text[], $3::bigint[]) AS lease (queue, item, generation)
WHERE entry.queue = lease.queue
    AND entry.item = lease.item
    AND entry.generation = lease.generation
    AND entry.until IS NOT NULL
RETURNING entry.item
