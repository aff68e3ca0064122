-- Guards: the stream ends at $2, and its lease in the queue $3 is still held under the generation $4. Who appends to the same
-- stream, and who claims the same entry, waits for the rows that are locked here.
-- $1 stream, $5 number of the batch. $6 to $9: kind, version, at and body of each event. No row is written when a guard failed.
WITH leased AS MATERIALIZED (
    SELECT 1
    FROM {schema}.queue_entries
    WHERE queue = $3 AND item = $1 AND generation = $4 AND until IS NOT NULL
    FOR NO KEY UPDATE
),
moved AS (
    UPDATE {schema}.streams
    SET head = head + cardinality($6::text[])
    WHERE stream = $1 AND head = $2 AND EXISTS (SELECT 1 FROM leased)
    RETURNING stream
),
begun AS (
    INSERT INTO {schema}.streams (stream, head)
    SELECT $1, cardinality($6::text[]) FROM leased WHERE $2 = 0
    ON CONFLICT DO NOTHING
    RETURNING stream
),
allowed AS (
    SELECT stream FROM moved
    UNION ALL
    SELECT stream FROM begun
)
INSERT INTO {schema}.events (stream, position, kind, version, at, body, batch)
SELECT $1::text, $2::bigint + n, kind, version, at, body, $5
FROM allowed, unnest($6::text[], $7::bigint[], $8::timestamptz[], $9::text[]) WITH ORDINALITY AS event (kind, version, at, body, n)
