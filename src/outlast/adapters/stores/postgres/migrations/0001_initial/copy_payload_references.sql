CREATE FUNCTION {schema}.copy_payload_references(item jsonb) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO {schema}.payload_references (stream, digest)
    SELECT item->>'target', digest FROM {schema}.payload_references WHERE stream = item->>'source'
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
