-- Mark what has come due. Called under the lock of the queue's shares, so that nobody passes over what another is just marking; an
-- entry that a commit is at is left to whoever is told of that commit.
CREATE OR REPLACE FUNCTION {schema}.mark_ripe(wanted_queue text, moment timestamptz) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    places tid[];
BEGIN
    places := ARRAY(
        SELECT entry.ctid
        FROM {schema}.queue_entries AS entry
        WHERE entry.queue = wanted_queue AND CASE WHEN NOT entry.is_ripe THEN coalesce(entry.until, entry.due_at) END <= moment
        FOR NO KEY UPDATE SKIP LOCKED
    );
    UPDATE {schema}.queue_entries AS entry SET is_ripe = true WHERE entry.ctid = ANY(places);
END
$$;
