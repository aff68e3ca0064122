SELECT
    task.task_id, task.user_id, task.thread_id, task.run_id, task.name, task.server, task.remote_id, task.status, task.tracking,
    task.notification, task.is_open, task.event_version, task.notified_version, task.created_at, task.updated_at,
    task.body_version, task.body, task.revision
FROM unnest($1::text[]) WITH ORDINALITY AS wanted (task_id, place)
JOIN {schema}.background_tasks AS task ON task.task_id = wanted.task_id
ORDER BY wanted.place
