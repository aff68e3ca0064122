-- Leases for the batches that were written (all but `refused`), once all of them are. Equal wishes are one claim: the first of them
-- claims for all, and `wish` is its place, from 1. For each that took anything there is one row: what it took, in order, with the
-- same times for all. Who wants several queues takes them in the same order, for each may mean the lock of its shares.
-- `refused` names a batch as often as it lost a lease.
CREATE OR REPLACE FUNCTION {schema}.claim_for_batches(
    refused integer[], batches integer[], limits bigint[], queues text[], holders text[], lengths interval[], readers bigint[],
    bounds_of_user bigint[], bounds_of_label bigint[]
)
RETURNS TABLE (
    wish bigint, entries text[], generations bigint[], attempts bigint[], until timestamptz, store_now timestamptz
)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    firsts bigint[] := '{1}';
    how_many bigint[] := limits;
    n bigint;
BEGIN
    IF cardinality(batches) = 0 OR batches <@ refused THEN
        RETURN;
    END IF;
    IF cardinality(batches) > 1 THEN
        SELECT array_agg(wished.first ORDER BY wished.queue), array_agg(wished.how_many ORDER BY wished.queue)
        INTO firsts, how_many
        FROM (
            SELECT min(given.place) AS first, given.queue, sum(given.how_many)::bigint AS how_many
            FROM unnest(batches, limits, queues, holders, lengths, readers, bounds_of_user, bounds_of_label)
                WITH ORDINALITY AS given (batch, how_many, queue, holder, lease, reader, per_user, per_label, place)
            WHERE given.batch <> ALL (refused)
            GROUP BY given.queue, given.holder, given.lease, given.reader, given.per_user, given.per_label
        ) AS wished;
    END IF;
    FOR k IN 1 .. coalesce(cardinality(firsts), 0) LOOP
        n := firsts[k];
        SELECT n, array_agg(lease.item), array_agg(lease.generation), array_agg(lease.attempts), max(lease.until), max(lease.store_now)
        INTO wish, entries, generations, attempts, until, store_now
        FROM {schema}.claim_by_shares(
            queues[n], holders[n], lengths[n], how_many[k], readers[n], bounds_of_user[n], bounds_of_label[n]
        ) AS lease;
        IF entries IS NOT NULL THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END
$$;
