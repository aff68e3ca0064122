-- Every pair of user and label below its bounds (NULL: none) that has a due entry: how many leases the user and the label hold, and
-- by when the first is due. Goes from pair to pair by the index of what is ripe.
CREATE OR REPLACE FUNCTION {schema}.pairs_with_due(
    wanted_queue text, moment timestamptz, reader bigint, per_user bigint, per_label bigint
)
RETURNS TABLE (user_id text, label text, held bigint, held_of_label bigint, ready_at timestamptz)
LANGUAGE sql STABLE
AS $$
WITH RECURSIVE
leases AS MATERIALIZED (
    SELECT user_id, label FROM {schema}.queue_entries WHERE queue = wanted_queue AND until > moment
),
of_users AS MATERIALIZED (SELECT user_id, count(*) AS held FROM leases GROUP BY user_id),
of_labels AS MATERIALIZED (SELECT label, count(*) AS held FROM leases GROUP BY label),
pairs AS (
    (
        SELECT user_id, label
        FROM {schema}.queue_entries
        WHERE queue = wanted_queue AND is_ripe
        ORDER BY user_id, label
        LIMIT 1
    )
    UNION ALL
    SELECT later.user_id, later.label
    FROM pairs
    CROSS JOIN LATERAL (
        SELECT entry.user_id, entry.label
        FROM {schema}.queue_entries AS entry
        WHERE entry.queue = wanted_queue
            AND entry.is_ripe
            AND (entry.user_id, entry.label) > (pairs.user_id, pairs.label)
        ORDER BY entry.user_id, entry.label
        LIMIT 1
    ) AS later
)
SELECT pairs.user_id, pairs.label, coalesce(of_users.held, 0), coalesce(of_labels.held, 0), due.ready_at
FROM pairs
LEFT JOIN of_users ON of_users.user_id = pairs.user_id
LEFT JOIN of_labels ON of_labels.label = pairs.label
CROSS JOIN LATERAL (
    SELECT coalesce(entry.until, entry.due_at) AS ready_at
    FROM {schema}.queue_entries AS entry
    WHERE entry.queue = wanted_queue
        AND entry.is_ripe
        AND entry.user_id = pairs.user_id
        AND entry.label = pairs.label
        AND CASE WHEN entry.is_ripe THEN coalesce(entry.until, entry.due_at) END <= moment
        AND coalesce((SELECT min_reader FROM {schema}.runs WHERE run_id = entry.item), 0) <= reader
    ORDER BY CASE WHEN entry.is_ripe THEN coalesce(entry.until, entry.due_at) END
    LIMIT 1
) AS due
WHERE (per_user IS NULL OR coalesce(of_users.held, 0) < per_user)
    AND (per_label IS NULL OR coalesce(of_labels.held, 0) < per_label)
$$;
