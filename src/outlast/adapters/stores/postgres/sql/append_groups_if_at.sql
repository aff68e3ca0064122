-- As append_events_if_at, for several streams, none of them twice. Lists of texts come as one text each, with U+001F between, lists
-- of numbers as PostgreSQL spells them: the driver would look at each of many values for longer than it takes to take them apart here.
-- $1 to $7: stream, after, count of events, queue, generation and number of each batch, and $7 what to add to the place of an event
-- among all events for its position in the stream of the batch. $8 to $12: place of its batch, kind, version, at and body of each
-- event. Returns the streams that were appended to.
WITH wanted AS MATERIALIZED (
    SELECT *
    FROM unnest(
        string_to_array($1::text, chr(31)), $2::text::bigint[], $3::text::bigint[], string_to_array($4::text, chr(31)),
        $5::text::bigint[], $6::text::bigint[], $7::text::bigint[]
    ) WITH ORDINALITY AS given (stream, after, added, queue, generation, batch, before, place)
),
leased AS MATERIALIZED (
    SELECT wanted.*
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
    RETURNING leased.*
),
begun AS (
    INSERT INTO {schema}.streams (stream, head)
    SELECT stream, added FROM leased WHERE after = 0
    ON CONFLICT DO NOTHING
    RETURNING stream
),
allowed AS (
    SELECT * FROM moved
    UNION ALL
    SELECT leased.* FROM leased JOIN begun USING (stream)
),
appended AS (
    INSERT INTO {schema}.events (stream, position, kind, version, at, body, batch)
    SELECT stream, before + n, kind, version, at, body, batch
    FROM unnest(
        $8::text::bigint[], string_to_array($9::text, chr(31)), $10::text::bigint[], $11::timestamptz[],
        string_to_array($12::text, chr(31))
    ) WITH ORDINALITY AS event (place, kind, version, at, body, n)
    JOIN allowed USING (place)
)
SELECT stream FROM allowed
