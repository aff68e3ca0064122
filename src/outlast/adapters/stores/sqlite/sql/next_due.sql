SELECT ready_at
FROM queue_entries
WHERE queue = :queue AND ready_at IS NOT NULL
ORDER BY ready_at
LIMIT 1
