SELECT queue, item, due_at, generation, holder, until, note
FROM queue_entries
WHERE queue = :queue AND until > :now
ORDER BY until
LIMIT :limit
