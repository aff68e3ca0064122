-- As append_events_if_at, for several streams, none of them twice.
-- $1 to $5: stream, after, count of events, queue and generation of each append. $6 to $12: stream, position, kind, version, at,
-- body and number of the batch of each event. Returns the streams that were appended to.
WITH wanted AS MATERIALIZED (
    SELECT *
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[])
        AS given (stream, after, added, queue, generation)
),
leased AS MATERIALIZED (
    SELECT wanted.stream, wanted.after, wanted.added
    FROM wanted
    JOIN {schema}.queue_entries AS entry ON entry.queue = wanted.queue AND entry.item = wanted.stream
    WHERE entry.generation = wanted.generation AND entry.until IS NOT NULL
    FOR NO KEY UPDATE OF entry
),
moved AS (
    UPDATE {schema}.streams AS known
    SET head = known.head + leased.added
    FROM leased
    WHERE known.stream = leased.stream AND known.head = leased.after
    RETURNING known.stream
),
begun AS (
    INSERT INTO {schema}.streams (stream, head)
    SELECT stream, added FROM leased WHERE after = 0
    ON CONFLICT DO NOTHING
    RETURNING stream
),
allowed AS (
    SELECT stream FROM moved
    UNION ALL
    SELECT stream FROM begun
),
appended AS (
    INSERT INTO {schema}.events (stream, position, kind, version, at, body, batch)
    SELECT event.*
    FROM unnest($6::text[], $7::bigint[], $8::text[], $9::bigint[], $10::timestamptz[], $11::text[], $12::bigint[])
        AS event (stream, position, kind, version, at, body, batch)
    JOIN allowed USING (stream)
)
SELECT stream FROM allowed
