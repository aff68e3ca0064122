-- Guards: its id and its user's key are free, its thread is there and, when it is active, has no other active run. Who makes a
-- run of the same thread active waits for the thread's row.
CREATE OR REPLACE FUNCTION {schema}.insert_run_if_allowed(item jsonb) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    of_thread text := item->>'thread_id';
    active boolean := (item->>'is_active')::boolean;
    has_thread boolean;
    is_busy boolean;
BEGIN
    IF active THEN
        PERFORM 1 FROM {schema}.threads WHERE thread_id = of_thread FOR NO KEY UPDATE;
    ELSE
        PERFORM 1 FROM {schema}.threads WHERE thread_id = of_thread FOR KEY SHARE;
    END IF;
    has_thread := FOUND;
    is_busy := active AND EXISTS (SELECT 1 FROM {schema}.runs WHERE thread_id = of_thread AND is_active);
    INSERT INTO {schema}.runs (
        run_id, thread_id, user_id, task, state, is_active, created_at, updated_at, summary, idempotency_key, outcome, min_reader
    )
    SELECT
        item->>'run_id', of_thread, item->>'user_id', item->>'task', item->>'state', active,
        (item->>'created_at')::timestamptz, (item->>'updated_at')::timestamptz, item->>'summary', item->>'key',
        item->>'outcome', (item->>'min_reader')::bigint
    WHERE has_thread AND NOT is_busy
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        RETURN NULL;
    END IF;
    RETURN CASE
        WHEN EXISTS (SELECT 1 FROM {schema}.runs WHERE run_id = item->>'run_id') THEN 'exists'
        WHEN EXISTS (
            SELECT 1 FROM {schema}.runs WHERE user_id = item->>'user_id' AND idempotency_key = item->>'key'
        ) THEN 'key'
        WHEN has_thread THEN 'thread_busy'
        ELSE 'missing'
    END;
END $$;
