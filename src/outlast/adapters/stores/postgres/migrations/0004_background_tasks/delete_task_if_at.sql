-- Guards: the task is there, and its revision is `after`.
CREATE FUNCTION {schema}.delete_task_if_at(given jsonb) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    of_task text := given->>'task_id';
    known bigint;
BEGIN
    SELECT revision INTO known FROM {schema}.background_tasks WHERE task_id = of_task FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'missing';
    ELSIF known <> (given->>'after')::bigint THEN
        RETURN 'revision';
    END IF;
    DELETE FROM {schema}.background_tasks WHERE task_id = of_task;
    DELETE FROM {schema}.queue_entries
    WHERE item = of_task AND queue IN (SELECT value FROM jsonb_array_elements_text(given->'queues'));
    RETURN NULL;
END $$;
