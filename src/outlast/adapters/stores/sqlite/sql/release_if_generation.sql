-- Due again at :due_at (NULL: not until an enqueue); the earlier of this and an enqueue since the claim holds.
UPDATE queue_entries
SET due_at = coalesce(min(due_at, :due_at), due_at, :due_at), holder = NULL, until = NULL, attempts = 0, note = :note,
    is_ripe = coalesce(coalesce(min(due_at, :due_at), due_at, :due_at) <= :now, 0)
WHERE queue = :queue AND item = :item AND generation = :generation AND until IS NOT NULL
