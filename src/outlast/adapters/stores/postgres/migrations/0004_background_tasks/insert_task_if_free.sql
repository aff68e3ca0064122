-- Guards: its id, its name in its thread, and its remote id at its user and server are free.
CREATE FUNCTION {schema}.insert_task_if_free(item jsonb) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO {schema}.background_tasks (
        task_id, user_id, thread_id, run_id, name, server, remote_id, status, tracking, notification, is_open, event_version,
        notified_version, created_at, updated_at, body_version, body, revision
    )
    VALUES (
        item->>'task_id', item->>'user_id', item->>'thread_id', item->>'run_id', item->>'name', item->>'server',
        item->>'remote_id', item->>'status', item->>'tracking', item->>'notification', (item->>'is_open')::boolean,
        (item->>'event_version')::bigint, (item->>'notified_version')::bigint, (item->>'created_at')::timestamptz,
        (item->>'updated_at')::timestamptz, (item->>'body_version')::bigint, item->>'body', 1
    )
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        RETURN NULL;
    END IF;
    RETURN CASE
        WHEN EXISTS (SELECT 1 FROM {schema}.background_tasks WHERE task_id = item->>'task_id') THEN 'exists'
        WHEN EXISTS (
            SELECT 1 FROM {schema}.background_tasks WHERE thread_id = item->>'thread_id' AND name = item->>'name'
        ) THEN 'name'
        ELSE 'remote'
    END;
END $$;
