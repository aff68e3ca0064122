-- ?2 now.
SELECT ready_at
FROM queue_entries
WHERE queue = ?1 AND ready_at IS NOT NULL AND (until IS NULL OR until <= ?2)
ORDER BY ready_at
LIMIT 1
