SELECT result FROM {schema}.background_tasks WHERE task_id = $1
