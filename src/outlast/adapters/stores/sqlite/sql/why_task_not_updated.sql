SELECT CASE
    WHEN NOT EXISTS (SELECT 1 FROM background_tasks WHERE task_id = :task_id) THEN 'missing'
    WHEN NOT EXISTS (SELECT 1 FROM background_tasks WHERE task_id = :task_id AND revision = :after) THEN 'revision'
    WHEN :generation IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM queue_entries
        WHERE queue = :queue AND item = :task_id AND generation = :generation AND until IS NOT NULL
    ) THEN 'generation'
    ELSE 'remote'
END
