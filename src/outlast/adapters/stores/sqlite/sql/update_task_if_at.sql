-- Guards: its revision is :after, the lease on its entry in :queue is still held under :generation (NULL: no such guard), and no
-- other task of its user has its remote id.
UPDATE background_tasks
SET server = :server,
    remote_id = :remote_id,
    status = :status,
    tracking = :tracking,
    notification = :notification,
    is_open = :is_open,
    event_version = :event_version,
    notified_version = :notified_version,
    updated_at = :updated_at,
    body_version = :body_version,
    body = :body,
    revision = :after + 1,
    result = coalesce(:result, result)
WHERE task_id = :task_id
    AND revision = :after
    AND (
        :generation IS NULL
        OR EXISTS (
            SELECT 1 FROM queue_entries
            WHERE queue = :queue AND item = :task_id AND generation = :generation AND until IS NOT NULL
        )
    )
    AND NOT EXISTS (
        SELECT 1 FROM background_tasks AS other
        WHERE other.remote_id IS NOT NULL
            AND other.user_id = background_tasks.user_id
            AND other.server = :server
            AND other.remote_id = :remote_id
            AND other.task_id <> :task_id
    )
