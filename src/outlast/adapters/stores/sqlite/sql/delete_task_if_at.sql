DELETE FROM background_tasks WHERE task_id = :task_id AND revision = :after
