SELECT count(*) FROM background_tasks WHERE {conditions}
