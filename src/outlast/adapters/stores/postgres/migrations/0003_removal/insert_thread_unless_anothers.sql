-- Guard: a thread that is there already is the same user's; it is left as it is. One that is about to be deleted is waited for and
-- made again.
CREATE OR REPLACE FUNCTION {schema}.insert_thread_unless_anothers(item jsonb) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    owner text;
BEGIN
    LOOP
        INSERT INTO {schema}.threads (thread_id, user_id, title, created_at)
        VALUES (item->>'thread_id', item->>'user_id', item->>'title', (item->>'created_at')::timestamptz)
        ON CONFLICT DO NOTHING;
        IF FOUND THEN
            RETURN NULL;
        END IF;
        SELECT user_id INTO owner FROM {schema}.threads WHERE thread_id = item->>'thread_id' FOR KEY SHARE;
        IF FOUND THEN
            RETURN CASE WHEN owner <> item->>'user_id' THEN 'exists' END;
        END IF;
    END LOOP;
END $$;
