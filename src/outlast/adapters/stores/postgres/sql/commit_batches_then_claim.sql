-- As release_groups_if_generation, behind any other batches.
-- $1 to $8: wishes, a list a column. $9 and $10: the batches and their payloads. Returns the batches that were refused, and what was
-- claimed for the others.
WITH refused AS MATERIALIZED (
    SELECT batch, item, guard FROM {schema}.commit_batches($9::jsonb, $10::bytea[])
)
SELECT batch, item, guard, NULL::bigint AS wish, NULL::text[] AS entries, NULL::bigint[] AS generations, NULL::bigint[] AS attempts,
    NULL::timestamptz AS until, NULL::timestamptz AS store_now
FROM refused
UNION ALL
SELECT NULL, NULL, NULL, wish, entries, generations, attempts, until, store_now
FROM {schema}.claim_for_batches((SELECT coalesce(array_agg(batch), '{}') FROM refused), $1, $2, $3, $4, $5, $6, $7, $8)
