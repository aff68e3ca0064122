-- Gives leases back, then claims for the batches whose leases were all held: a function sees what the command that calls it has
-- changed so far, and `lost` is known only then. Nothing comes after the claims: who holds the lock of the shares waits for nobody's
-- rows.
-- $1 to $8: wishes, a list a column as claim_for_batches takes them. $9 to $14: place of the batch, queue, item, generation, due time
-- and note of each lease, no entry twice; see the function for what may be said once. Returns the places, from 1, of the leases that
-- are not held any more, and what was claimed.
WITH lost AS MATERIALIZED (
    SELECT batch, place FROM {schema}.release_groups_if_generation($9, $10, $11, $12, $13, $14)
)
SELECT place, NULL::bigint AS wish, NULL::text[] AS entries, NULL::bigint[] AS generations, NULL::bigint[] AS attempts,
    NULL::timestamptz AS until, NULL::timestamptz AS store_now
FROM lost
UNION ALL
SELECT NULL, wish, entries, generations, attempts, until, store_now
FROM {schema}.claim_for_batches((SELECT coalesce(array_agg(batch), '{}') FROM lost), $1, $2, $3, $4, $5, $6, $7, $8)
