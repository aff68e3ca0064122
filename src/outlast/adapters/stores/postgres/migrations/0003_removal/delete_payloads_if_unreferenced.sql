-- Delete those of the payloads to which no stream refers. Each is locked before its references are looked at: who puts or has put
-- a payload holds it until its reference is there to be seen.
CREATE FUNCTION {schema}.delete_payloads_if_unreferenced(digests text[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM {schema}.payloads WHERE digest = ANY (digests) ORDER BY digest FOR UPDATE;
    DELETE FROM {schema}.payloads AS payload
    WHERE digest = ANY (digests)
        AND NOT EXISTS (SELECT 1 FROM {schema}.payload_references AS held WHERE held.digest = payload.digest);
END $$;
