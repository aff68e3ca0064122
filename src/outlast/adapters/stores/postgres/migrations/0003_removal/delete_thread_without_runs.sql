-- Guards: the thread is there, and no run of it is.
CREATE FUNCTION {schema}.delete_thread_without_runs(item jsonb) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    of_thread text := item->>'thread_id';
BEGIN
    PERFORM 1 FROM {schema}.threads WHERE thread_id = of_thread FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'missing';
    ELSIF EXISTS (SELECT 1 FROM {schema}.runs WHERE thread_id = of_thread) THEN
        RETURN 'thread_busy';
    END IF;
    DELETE FROM {schema}.threads WHERE thread_id = of_thread;
    PERFORM {schema}.delete_stream(of_thread);
    RETURN NULL;
END $$;
