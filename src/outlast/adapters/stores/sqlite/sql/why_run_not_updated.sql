SELECT CASE
    WHEN NOT EXISTS (SELECT 1 FROM runs WHERE run_id = :run_id) THEN 'missing'
    WHEN :generation IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM queue_entries
        WHERE queue = 'runs' AND item = :run_id AND generation = :generation AND until IS NOT NULL
    ) THEN 'generation'
    ELSE 'thread_busy'
END
