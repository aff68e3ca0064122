CREATE FUNCTION {schema}.put_payload_if_absent(item jsonb, content bytea) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO {schema}.payloads (digest, content) VALUES (item->>'digest', put_payload_if_absent.content)
    ON CONFLICT DO NOTHING;
    INSERT INTO {schema}.payload_references (stream, digest) VALUES (item->>'stream', item->>'digest')
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
