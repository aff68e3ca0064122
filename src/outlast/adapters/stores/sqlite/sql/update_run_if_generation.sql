-- Guard: the lease on the run is still held under :generation (NULL: no such guard).
UPDATE runs
SET state = :state, is_active = :is_active, outcome = :outcome, updated_at = :updated_at, summary = :summary, min_reader = :min_reader
WHERE run_id = :run_id
    AND (
        :generation IS NULL
        OR EXISTS (
            SELECT 1 FROM queue_entries
            WHERE queue = 'runs' AND item = :run_id AND generation = :generation AND until IS NOT NULL
        )
    )
    AND NOT (
        :is_active
        AND NOT is_active
        AND EXISTS (SELECT 1 FROM runs AS other WHERE other.thread_id = runs.thread_id AND other.is_active)
    )
