SELECT result FROM background_tasks WHERE task_id = :task_id
