-- Guard of each batch: all its leases are still held under their generations, or else none of them is given back. Due again at the
-- earlier of its due time (null: not until an enqueue) and an enqueue since the claim. Returns the leases that are not held any more,
-- their places counted from 1. No entry comes twice. Items and generations are one a lease; any other list may hold a single value
-- for all.
-- As in claim_by_shares, entries are found by their key, locked, and written by the places that the locks keep: nothing depends on
-- what the server believes to be in the queue.
CREATE FUNCTION {schema}.release_groups_if_generation(
    batches integer[], queues text[], items text[], generations bigint[], due_ats timestamptz[], notes text[]
)
RETURNS TABLE (batch integer, place bigint)
LANGUAGE plpgsql
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    held tid[];
    refused integer[];
    given bigint;
    written bigint := 0;
BEGIN
    held := ARRAY(
        SELECT known.place
        FROM unnest(items, generations) WITH ORDINALITY AS lease (item, generation, n)
        LEFT JOIN LATERAL (
            SELECT CASE WHEN entry.generation = lease.generation AND entry.until IS NOT NULL THEN entry.ctid END AS place
            FROM {schema}.queue_entries AS entry
            WHERE entry.queue = queues[least(lease.n, cardinality(queues))] AND entry.item = lease.item
            OFFSET 0 -- so that rows are found by their key and by nothing else
            FOR NO KEY UPDATE
        ) AS known ON true
        ORDER BY lease.n
    );
    IF array_position(held, NULL) IS NOT NULL THEN
        FOR batch, place IN
            SELECT batches[least(lease.n, cardinality(batches))], lease.n
            FROM unnest(held) WITH ORDINALITY AS lease (place, n)
            WHERE lease.place IS NULL
        LOOP
            refused := refused || batch;
            RETURN NEXT;
        END LOOP;
        held := ARRAY(
            SELECT CASE WHEN batches[least(lease.n, cardinality(batches))] <> ALL (refused) THEN lease.place END
            FROM unnest(held) WITH ORDINALITY AS lease (place, n)
            ORDER BY lease.n
        );
    END IF;
    given := cardinality(array_remove(held, NULL));
    IF cardinality(due_ats) = 1 AND cardinality(notes) = 1 THEN
        UPDATE {schema}.queue_entries AS entry
        SET due_at = least(entry.due_at, due_ats[1]),
            holder = NULL,
            until = NULL,
            attempts = 0,
            note = notes[1],
            is_ripe = coalesce(least(entry.due_at, due_ats[1]) <= clock_timestamp(), false)
        WHERE entry.ctid = ANY (held);
        GET DIAGNOSTICS written = ROW_COUNT;
    ELSE
        FOR n IN 1 .. cardinality(held) LOOP
            UPDATE {schema}.queue_entries AS entry
            SET due_at = least(entry.due_at, due_ats[least(n, cardinality(due_ats))]),
                holder = NULL,
                until = NULL,
                attempts = 0,
                note = notes[least(n, cardinality(notes))],
                is_ripe = coalesce(least(entry.due_at, due_ats[least(n, cardinality(due_ats))]) <= clock_timestamp(), false)
            WHERE entry.ctid = held[n];
            IF FOUND THEN
                written := written + 1;
            END IF;
        END LOOP;
    END IF;
    IF written <> given THEN
        RAISE 'a locked entry has moved' USING ERRCODE = 'serialization_failure';
    END IF;
END
$$;
