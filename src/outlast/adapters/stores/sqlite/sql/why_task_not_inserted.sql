SELECT CASE
    WHEN EXISTS (SELECT 1 FROM background_tasks WHERE task_id = :task_id) THEN 'exists'
    WHEN EXISTS (SELECT 1 FROM background_tasks WHERE thread_id = :thread_id AND name = :name) THEN 'name'
    ELSE 'remote'
END
