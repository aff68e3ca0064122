SELECT count(*) FROM {schema}.background_tasks AS task WHERE {conditions}
