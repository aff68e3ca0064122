-- Guard: the source has events. It then keeps them, and so its payloads, until the end of the transaction.
CREATE OR REPLACE FUNCTION {schema}.copy_payload_references(item jsonb) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM {schema}.streams WHERE stream = item->>'source' FOR KEY SHARE;
    IF NOT FOUND THEN
        RETURN 'missing';
    END IF;
    INSERT INTO {schema}.payload_references (stream, digest)
    SELECT item->>'target', digest FROM {schema}.payload_references WHERE stream = item->>'source'
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
