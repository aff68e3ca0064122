CREATE FUNCTION {schema}.put_snapshot_if_newer(item jsonb) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO {schema}.snapshots AS kept (stream, position, fold_version, body)
    VALUES (item->>'stream', (item->>'position')::bigint, (item->>'fold_version')::bigint, item->>'body')
    ON CONFLICT (stream) DO UPDATE
    SET position = excluded.position, fold_version = excluded.fold_version, body = excluded.body
    WHERE excluded.position >= kept.position;
    RETURN NULL;
END $$;
