-- Guards: the stream ends at `after` (null: wherever), and its lease in `queue` is still held under `generation` (null: no
-- such guard). Who appends to the same stream waits for the row that says where it ends.
CREATE FUNCTION {schema}.append_events_if_at(item jsonb, of_batch bigint) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    to_stream text := item->>'stream';
    expected bigint := (item->>'after')::bigint;
    under bigint := (item->>'generation')::bigint;
    added bigint := jsonb_array_length(item->'events');
    ended bigint;
BEGIN
    IF under IS NOT NULL AND NOT {schema}.holds_lease(item->>'queue', to_stream, under) THEN
        SELECT head INTO ended FROM {schema}.streams WHERE stream = to_stream;
        RETURN CASE WHEN coalesce(ended, 0) <> expected THEN 'position' ELSE 'generation' END;
    END IF;
    WHILE ended IS NULL LOOP
        UPDATE {schema}.streams SET head = head + added
        WHERE stream = to_stream AND (expected IS NULL OR head = expected)
        RETURNING head INTO ended;
        IF ended IS NULL AND coalesce(expected, 0) = 0 THEN
            INSERT INTO {schema}.streams (stream, head) VALUES (to_stream, added)
            ON CONFLICT DO NOTHING
            RETURNING head INTO ended;
        END IF;
        IF ended IS NULL AND expected IS NOT NULL THEN
            RETURN 'position';
        END IF;
    END LOOP;
    INSERT INTO {schema}.events (stream, position, kind, version, at, body, batch)
    SELECT
        to_stream, ended - added + n, event->>'kind', (event->>'version')::bigint, (event->>'at')::timestamptz,
        event->>'body', of_batch
    FROM jsonb_array_elements(item->'events') WITH ORDINALITY AS given (event, n);
    RETURN NULL;
END $$;
