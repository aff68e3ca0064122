-- Delete the references and snapshots of streams without events, then payloads to which nobody refers. One statement looks and
-- deletes, so that a stream that comes to life meanwhile loses nothing.
CREATE FUNCTION {schema}.sweep_payloads(item jsonb) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    freed text[];
BEGIN
    WITH gone AS MATERIALIZED (
        SELECT stream
        FROM jsonb_array_elements_text(item->'streams') AS given (stream)
        WHERE NOT EXISTS (SELECT 1 FROM {schema}.streams AS known WHERE known.stream = given.stream)
    ),
    forgotten AS (
        DELETE FROM {schema}.snapshots WHERE stream IN (SELECT stream FROM gone)
    ),
    dropped AS (
        DELETE FROM {schema}.payload_references WHERE stream IN (SELECT stream FROM gone) RETURNING digest
    )
    SELECT array_agg(digest) INTO freed FROM dropped;
    PERFORM {schema}.delete_payloads_if_unreferenced(
        freed || ARRAY (SELECT digest FROM jsonb_array_elements_text(item->'digests') AS given (digest))
    );
    RETURN NULL;
END $$;
