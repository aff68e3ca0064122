-- Is the lease still held under this generation? It is then held until the end of the transaction: who would claim it waits.
CREATE FUNCTION {schema}.holds_lease(in_queue text, of_item text, under bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM {schema}.queue_entries
    WHERE queue = in_queue AND item = of_item AND generation = under AND until IS NOT NULL
    FOR NO KEY UPDATE;
    RETURN FOUND;
END $$;
