-- Guards: the run is there, the lease on it is still held under `generation` (null: no such guard) and, when this makes it
-- active again, its thread has no other active run.
CREATE FUNCTION {schema}.update_run_if_generation(item jsonb) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    of_run text := item->>'run_id';
    under bigint := (item->>'generation')::bigint;
    active boolean := (item->>'is_active')::boolean;
    was record;
BEGIN
    IF under IS NOT NULL AND NOT {schema}.holds_lease('runs', of_run, under) THEN
        RETURN CASE WHEN EXISTS (SELECT 1 FROM {schema}.runs WHERE run_id = of_run) THEN 'generation' ELSE 'missing' END;
    END IF;
    SELECT thread_id, is_active INTO was FROM {schema}.runs WHERE run_id = of_run FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'missing';
    END IF;
    IF active AND NOT was.is_active THEN
        PERFORM 1 FROM {schema}.threads WHERE thread_id = was.thread_id FOR NO KEY UPDATE;
        IF EXISTS (SELECT 1 FROM {schema}.runs WHERE thread_id = was.thread_id AND is_active) THEN
            RETURN 'thread_busy';
        END IF;
    END IF;
    UPDATE {schema}.runs
    SET state = item->>'state', is_active = active, outcome = item->>'outcome',
        updated_at = (item->>'updated_at')::timestamptz, summary = item->>'summary',
        min_reader = (item->>'min_reader')::bigint
    WHERE run_id = of_run;
    RETURN NULL;
END $$;
