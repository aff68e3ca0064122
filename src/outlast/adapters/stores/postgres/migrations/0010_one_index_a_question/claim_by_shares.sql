-- Leases on due entries, each chosen as if it were claimed alone: of the users that hold least, the entry that is due first. Where
-- only one user and label have something due, what they may have is taken at once; without bounds nobody's leases are counted for it.
-- Every statement of the function sees what was committed before it, so under the lock no bound is passed, and what another has
-- just marked is seen as marked.
-- No statement leaves it to the statistics which rows are gone through, since a queue turns over faster than they are taken: what waits
-- is never looked at, what is ripe and what is not are each found by a time that only their own index knows, and what was locked is
-- written by its place, which the lock keeps.
CREATE OR REPLACE FUNCTION {schema}.claim_by_shares(
    wanted_queue text, claimer text, lease interval, how_many bigint, reader bigint, per_user bigint, per_label bigint
)
RETURNS TABLE (
    item text, generation bigint, until timestamptz, store_now timestamptz, attempts bigint, ready_at timestamptz
)
LANGUAGE plpgsql
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz := clock_timestamp();
    chosen record;
    taken bigint;
    places tid[];
    items text[];
    generations bigint[];
    counts bigint[];
    ready timestamptz[];
    is_chosen boolean := false;
    users_passed text[] := '{}';
    labels_passed text[] := '{}';
BEGIN
    IF per_user IS NOT NULL OR per_label IS NOT NULL OR EXISTS (
        SELECT 1
        FROM {schema}.queue_entries
        WHERE queue = wanted_queue AND CASE WHEN NOT is_ripe THEN coalesce(until, due_at) END <= moment
    ) THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('{schema} shares of ' || wanted_queue, 0));
        moment := clock_timestamp();
        PERFORM {schema}.mark_ripe(wanted_queue, moment);
    END IF;
    IF per_user IS NULL AND per_label IS NULL THEN
        SELECT lone.user_id, lone.label, how_many AS share INTO chosen FROM {schema}.lone_pair_ripe(wanted_queue) AS lone;
        is_chosen := FOUND;
    END IF;
    WHILE how_many > 0 LOOP
        IF NOT is_chosen THEN
            SELECT
                pair.user_id,
                pair.label,
                CASE
                    WHEN count(*) OVER () = 1 THEN least(how_many, per_user - pair.held, per_label - pair.held_of_label)
                    ELSE 1
                END AS share
            INTO chosen
            FROM {schema}.pairs_with_due(wanted_queue, moment, reader, per_user, per_label) AS pair
            WHERE NOT EXISTS (
                SELECT 1
                FROM unnest(users_passed, labels_passed) AS passed (user_id, label)
                WHERE passed.user_id = pair.user_id AND passed.label = pair.label
            )
            ORDER BY pair.held, pair.ready_at
            LIMIT 1;
            EXIT WHEN NOT FOUND;
        END IF;
        is_chosen := false;
        SELECT array_agg(due.place), array_agg(due.item), array_agg(due.generation), array_agg(due.attempts), array_agg(due.ready_at)
        INTO places, items, generations, counts, ready
        FROM (
            SELECT entry.ctid AS place, entry.item, entry.generation, entry.attempts, coalesce(entry.until, entry.due_at) AS ready_at
            FROM {schema}.queue_entries AS entry
            WHERE entry.queue = wanted_queue
                AND entry.is_ripe
                AND entry.user_id = chosen.user_id
                AND entry.label = chosen.label
                AND CASE WHEN entry.is_ripe THEN coalesce(entry.until, entry.due_at) END <= moment
                AND coalesce((SELECT min_reader FROM {schema}.runs WHERE run_id = entry.item), 0) <= reader
            ORDER BY CASE WHEN entry.is_ripe THEN coalesce(entry.until, entry.due_at) END
            LIMIT chosen.share
            FOR NO KEY UPDATE OF entry SKIP LOCKED
        ) AS due;
        UPDATE {schema}.queue_entries AS entry
        SET generation = entry.generation + 1,
            holder = claimer,
            until = moment + lease,
            attempts = entry.attempts + 1,
            due_at = NULL,
            is_ripe = false
        WHERE entry.ctid = ANY(places);
        GET DIAGNOSTICS taken = ROW_COUNT;
        IF taken <> coalesce(cardinality(places), 0) THEN
            RAISE 'a locked entry has moved' USING ERRCODE = 'serialization_failure';
        END IF;
        RETURN QUERY
        SELECT one.item, one.generation + 1, moment + lease, moment, one.attempts + 1, one.ready_at
        FROM unnest(items, generations, counts, ready) AS one (item, generation, attempts, ready_at);
        how_many := how_many - taken;
        IF taken = 0 THEN -- others are at every entry of this pair
            users_passed := users_passed || chosen.user_id;
            labels_passed := labels_passed || chosen.label;
        END IF;
    END LOOP;
END
$$;
