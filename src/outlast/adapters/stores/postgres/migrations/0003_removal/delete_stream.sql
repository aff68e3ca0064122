-- Delete a stream with its snapshot and its payload references, and the payloads to which no other stream refers.
CREATE FUNCTION {schema}.delete_stream(of_stream text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    digests text[];
BEGIN
    DELETE FROM {schema}.streams WHERE stream = of_stream;
    DELETE FROM {schema}.events WHERE stream = of_stream;
    DELETE FROM {schema}.snapshots WHERE stream = of_stream;
    WITH dropped AS (
        DELETE FROM {schema}.payload_references WHERE stream = of_stream RETURNING digest
    )
    SELECT array_agg(digest) INTO digests FROM dropped;
    PERFORM {schema}.delete_payloads_if_unreferenced(digests);
END $$;
