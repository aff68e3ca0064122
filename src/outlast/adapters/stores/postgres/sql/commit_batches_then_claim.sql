-- $1 to $8: see claimed_for_batches. $9 and $10: the batches and their payloads. Returns the batches that were refused, and what was
-- claimed for the others.
WITH refused AS MATERIALIZED (
    SELECT batch, item, guard FROM {schema}.commit_batches($9::jsonb, $10::bytea[])
),
written AS MATERIALIZED (
    SELECT coalesce(array_agg(batch), '{}') AS all_but FROM refused
),
{claimed}
SELECT batch, item, guard, NULL::bigint AS wish, NULL::text AS entry, NULL::bigint AS generation, NULL::timestamptz AS until,
    NULL::timestamptz AS store_now, NULL::bigint AS attempts
FROM refused
UNION ALL
SELECT NULL, NULL, NULL, claimed.* FROM claimed
