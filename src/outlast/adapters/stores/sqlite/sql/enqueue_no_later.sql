INSERT INTO queue_entries (queue, item, due_at, generation, user_id, label, is_ripe)
VALUES (:queue, :item, :due_at, :generation, :user_id, :label, coalesce(:due_at <= :now, 0))
ON CONFLICT (queue, item) DO UPDATE
SET due_at = excluded.due_at, is_ripe = is_ripe OR (until IS NULL AND excluded.is_ripe)
WHERE due_at IS NULL OR due_at > excluded.due_at
