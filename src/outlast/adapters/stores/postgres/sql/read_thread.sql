SELECT thread_id, user_id, title, created_at FROM {schema}.threads WHERE thread_id = $1
