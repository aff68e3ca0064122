-- ?1 run, ?2 generation (NULL: none).
SELECT CASE
    WHEN NOT EXISTS (SELECT 1 FROM runs WHERE run_id = ?1) THEN 'missing'
    WHEN ?2 IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM queue_entries
        WHERE queue = 'runs' AND item = ?1 AND generation = ?2 AND until IS NOT NULL
    ) THEN 'generation'
    ELSE 'thread_busy'
END
