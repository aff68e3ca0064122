-- The user and label that are next when live leases are shared out, and how many of their due entries may be taken before another
-- choice is to be made: all that is wanted where nobody else has any, else one. :per_user and :per_label bound leases (NULL: none).
WITH RECURSIVE
-- Every pair of user and label with an entry whose time has come: from one to the next by the index, over their entries.
pairs (user_id, label) AS (
    SELECT user_id, label
    FROM (
        SELECT user_id, label
        FROM queue_entries
        WHERE queue = :queue AND is_ripe = 1
        ORDER BY user_id, label
        LIMIT 1
    )
    UNION ALL
    SELECT entry.user_id, entry.label
    FROM pairs
    JOIN queue_entries AS entry ON entry.rowid = coalesce(
        (
            SELECT rowid
            FROM queue_entries
            WHERE queue = :queue AND is_ripe = 1 AND user_id = pairs.user_id AND label > pairs.label
            ORDER BY label
            LIMIT 1
        ),
        (
            SELECT rowid
            FROM queue_entries
            WHERE queue = :queue AND is_ripe = 1 AND user_id > pairs.user_id
            ORDER BY user_id, label
            LIMIT 1
        )
    )
),
leases (user_id, label) AS MATERIALIZED (
    SELECT user_id, label FROM queue_entries WHERE queue = :queue AND until > :now
),
of_users (user_id, held) AS MATERIALIZED (SELECT user_id, count(*) FROM leases GROUP BY user_id),
of_labels (label, held) AS MATERIALIZED (SELECT label, count(*) FROM leases WHERE :per_label IS NOT NULL GROUP BY label),
bounded (user_id, label, held, held_of_label, ready_at) AS MATERIALIZED (
    SELECT
        pairs.user_id,
        pairs.label,
        coalesce((SELECT held FROM of_users WHERE user_id = pairs.user_id), 0),
        coalesce((SELECT held FROM of_labels WHERE label = pairs.label), 0),
        (
            SELECT entry.ready_at
            FROM queue_entries AS entry
            WHERE entry.queue = :queue
                AND entry.is_ripe = 1
                AND entry.user_id = pairs.user_id
                AND entry.label = pairs.label
                AND entry.ready_at <= :now
                AND NOT EXISTS (SELECT 1 FROM runs WHERE run_id = entry.item AND min_reader > :reader)
            ORDER BY entry.ready_at
            LIMIT 1
        )
    FROM pairs
)
SELECT
    user_id,
    label,
    iif(
        count(*) OVER () = 1,
        min(:limit, coalesce(:per_user - held, :limit), coalesce(:per_label - held_of_label, :limit)),
        1
    )
FROM bounded
WHERE ready_at IS NOT NULL
    AND (:per_user IS NULL OR held < :per_user)
    AND (:per_label IS NULL OR held_of_label < :per_label)
ORDER BY held, ready_at
LIMIT 1
