-- Guards: the run is there, it is not active, and its stream ends at `at`. The rows are locked in the order in which a worker locks
-- them.
CREATE FUNCTION {schema}.delete_run_if_ended(given jsonb) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    of_run text := given->>'run_id';
    ended bigint;
    active boolean;
BEGIN
    PERFORM 1 FROM {schema}.queue_entries WHERE queue = 'runs' AND item = of_run FOR UPDATE;
    SELECT head INTO ended FROM {schema}.streams WHERE stream = of_run FOR UPDATE;
    SELECT is_active INTO active FROM {schema}.runs WHERE run_id = of_run FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'missing';
    ELSIF active THEN
        RETURN 'active';
    ELSIF coalesce(ended, 0) <> (given->>'at')::bigint THEN
        RETURN 'position';
    END IF;
    DELETE FROM {schema}.queue_entries WHERE queue = 'runs' AND item = of_run;
    DELETE FROM {schema}.runs WHERE run_id = of_run;
    PERFORM {schema}.delete_stream(of_run);
    RETURN NULL;
END $$;
