SELECT
    task_id, user_id, thread_id, run_id, name, server, remote_id, status, tracking, notification, is_open, event_version,
    notified_version, created_at, updated_at, body_version, body, revision
FROM background_tasks
WHERE {conditions}
ORDER BY created_at DESC, rowid DESC
LIMIT :limit OFFSET :offset
