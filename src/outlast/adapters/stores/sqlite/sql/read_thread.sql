SELECT thread_id, user_id, title, created_at FROM threads WHERE thread_id = :thread_id
