-- A payload that is there already may be about to be deleted: it is then waited for and put again.
CREATE OR REPLACE FUNCTION {schema}.put_payload_if_absent(item jsonb, content bytea) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    LOOP
        INSERT INTO {schema}.payloads (digest, content) VALUES (item->>'digest', put_payload_if_absent.content)
        ON CONFLICT DO NOTHING;
        EXIT WHEN FOUND;
        PERFORM 1 FROM {schema}.payloads WHERE digest = item->>'digest' FOR KEY SHARE;
        EXIT WHEN FOUND;
    END LOOP;
    INSERT INTO {schema}.payload_references (stream, digest) VALUES (item->>'stream', item->>'digest')
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
