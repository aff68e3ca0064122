-- Guards: the task is there, its revision is `after`, the lease on its entry in `queue` is still held under `generation` (null: no
-- such guard), and no other task of its user has its remote id. A block that catches costs a savepoint: only for a new remote id.
CREATE FUNCTION {schema}.update_task_if_at(item jsonb) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    of_task text := item->>'task_id';
    under bigint := (item->>'generation')::bigint;
    was record;
BEGIN
    SELECT revision, server, remote_id INTO was FROM {schema}.background_tasks WHERE task_id = of_task FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'missing';
    ELSIF was.revision <> (item->>'after')::bigint THEN
        RETURN 'revision';
    ELSIF under IS NOT NULL AND NOT {schema}.holds_lease(item->>'queue', of_task, under) THEN
        RETURN 'generation';
    END IF;
    IF (was.server, was.remote_id) IS DISTINCT FROM (item->>'server', item->>'remote_id') THEN
        BEGIN
            UPDATE {schema}.background_tasks
            SET server = item->>'server', remote_id = item->>'remote_id'
            WHERE task_id = of_task;
        EXCEPTION
            WHEN unique_violation THEN RETURN 'remote';
        END;
    END IF;
    UPDATE {schema}.background_tasks
    SET status = item->>'status', tracking = item->>'tracking', notification = item->>'notification',
        is_open = (item->>'is_open')::boolean, event_version = (item->>'event_version')::bigint,
        notified_version = (item->>'notified_version')::bigint, updated_at = (item->>'updated_at')::timestamptz,
        body_version = (item->>'body_version')::bigint, body = item->>'body', revision = was.revision + 1,
        result = coalesce(item->>'result', result)
    WHERE task_id = of_task;
    RETURN NULL;
END $$;
