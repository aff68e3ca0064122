-- The entry that is next when live leases are shared out; :per_user and :per_label bound them (NULL: no bound).
WITH RECURSIVE
-- Every pair of user and label with an entry that is or will be ready: from one to the next by the index, over their entries.
pairs (user_id, label) AS (
    SELECT user_id, label
    FROM (
        SELECT user_id, label
        FROM queue_entries
        WHERE queue = :queue AND ready_at IS NOT NULL
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
            WHERE queue = :queue AND ready_at IS NOT NULL AND user_id = pairs.user_id AND label > pairs.label
            ORDER BY label
            LIMIT 1
        ),
        (
            SELECT rowid
            FROM queue_entries
            WHERE queue = :queue AND ready_at IS NOT NULL AND user_id > pairs.user_id
            ORDER BY user_id, label
            LIMIT 1
        )
    )
),
firsts (entry, held) AS MATERIALIZED (
    SELECT
        (
            SELECT entry.rowid
            FROM queue_entries AS entry
            WHERE entry.queue = :queue
                AND entry.user_id = pairs.user_id
                AND entry.label = pairs.label
                AND entry.ready_at <= :now
                AND NOT EXISTS (SELECT 1 FROM runs WHERE run_id = entry.item AND min_reader > :reader)
            ORDER BY entry.ready_at
            LIMIT 1
        ),
        (
            SELECT count(*)
            FROM queue_entries
            WHERE queue = :queue AND user_id = pairs.user_id AND until > :now
        )
    FROM pairs
    WHERE :per_label IS NULL
        OR :per_label > (SELECT count(*) FROM queue_entries WHERE queue = :queue AND label = pairs.label AND until > :now)
)
SELECT firsts.entry
FROM firsts
JOIN queue_entries AS entry ON entry.rowid = firsts.entry
WHERE :per_user IS NULL OR firsts.held < :per_user
ORDER BY firsts.held, entry.ready_at
LIMIT 1
