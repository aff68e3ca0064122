-- Guard: a thread that is there already is the same user's; it is left as it is.
CREATE FUNCTION {schema}.insert_thread_unless_anothers(item jsonb) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO {schema}.threads (thread_id, user_id, title, created_at)
    VALUES (item->>'thread_id', item->>'user_id', item->>'title', (item->>'created_at')::timestamptz)
    ON CONFLICT DO NOTHING;
    IF FOUND OR EXISTS (
        SELECT 1 FROM {schema}.threads WHERE thread_id = item->>'thread_id' AND user_id = item->>'user_id'
    ) THEN
        RETURN NULL;
    END IF;
    RETURN 'exists';
END $$;
