-- ?4 when it is due again (NULL: not until an enqueue); the earlier of this and an enqueue since the claim holds.
UPDATE queue_entries
SET due_at = coalesce(min(due_at, ?4), due_at, ?4), holder = NULL, until = NULL, attempts = 0, note = ?5
WHERE queue = ?1 AND item = ?2 AND generation = ?3 AND until IS NOT NULL
