INSERT INTO background_tasks (
    task_id, user_id, thread_id, run_id, name, server, remote_id, status, tracking, notification, is_open, event_version,
    notified_version, created_at, updated_at, body_version, body, revision
)
SELECT
    :task_id, :user_id, :thread_id, :run_id, :name, :server, :remote_id, :status, :tracking, :notification, :is_open, :event_version,
    :notified_version, :created_at, :updated_at, :body_version, :body, 1
WHERE NOT EXISTS (SELECT 1 FROM background_tasks WHERE task_id = :task_id)
    AND NOT EXISTS (SELECT 1 FROM background_tasks WHERE thread_id = :thread_id AND name = :name)
    AND NOT EXISTS (
        SELECT 1 FROM background_tasks
        WHERE remote_id IS NOT NULL AND user_id = :user_id AND server = :server AND remote_id = :remote_id
    )
