-- Guard: the lease is still held under `generation`. Due again at `due_at` (null: not until an enqueue); the earlier of this
-- and an enqueue since the claim holds.
CREATE OR REPLACE FUNCTION {schema}.release_if_generation(given jsonb) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE {schema}.queue_entries
    SET due_at = least(due_at, (given->>'due_at')::timestamptz),
        holder = NULL,
        until = NULL,
        attempts = 0,
        note = given->>'note',
        is_ripe = coalesce(least(due_at, (given->>'due_at')::timestamptz) <= clock_timestamp(), false)
    WHERE queue = given->>'queue'
        AND item = given->>'item'
        AND generation = (given->>'generation')::bigint
        AND until IS NOT NULL;
    RETURN CASE WHEN NOT FOUND THEN 'generation' END;
END $$;
