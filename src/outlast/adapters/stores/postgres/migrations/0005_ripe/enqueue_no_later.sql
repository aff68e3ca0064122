-- Never touches a lease, never puts a due time off.
CREATE OR REPLACE FUNCTION {schema}.enqueue_no_later(given jsonb) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO {schema}.queue_entries AS entry (queue, item, due_at, generation, user_id, label, is_ripe)
    VALUES (
        given->>'queue', given->>'item', (given->>'due_at')::timestamptz, coalesce((given->>'generation')::bigint, 0),
        given->>'user_id', given->>'label', coalesce((given->>'due_at')::timestamptz <= clock_timestamp(), false)
    )
    ON CONFLICT ON CONSTRAINT queue_entries_pkey DO UPDATE
    SET due_at = excluded.due_at, is_ripe = entry.is_ripe OR (entry.until IS NULL AND excluded.is_ripe)
    WHERE entry.due_at IS NULL OR entry.due_at > excluded.due_at;
    RETURN NULL;
END $$;
