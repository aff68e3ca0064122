-- ?8 generation of a lease that must still be held (NULL: none).
UPDATE runs
SET state = ?2, is_active = ?3, outcome = ?4, updated_at = ?5, summary = ?6, min_reader = ?7
WHERE run_id = ?1
    AND (
        ?8 IS NULL
        OR EXISTS (
            SELECT 1 FROM queue_entries
            WHERE queue = 'runs' AND item = ?1 AND generation = ?8 AND until IS NOT NULL
        )
    )
    AND NOT (
        ?3
        AND NOT is_active
        AND EXISTS (SELECT 1 FROM runs AS other WHERE other.thread_id = runs.thread_id AND other.is_active)
    )
