INSERT INTO queue_entries (queue, item, due_at, generation, user_id, label)
VALUES (:queue, :item, :due_at, :generation, :user_id, :label)
ON CONFLICT (queue, item) DO UPDATE
SET due_at = excluded.due_at
WHERE due_at IS NULL OR due_at > excluded.due_at
