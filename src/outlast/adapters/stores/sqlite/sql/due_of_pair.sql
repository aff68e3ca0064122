SELECT entry.rowid
FROM queue_entries AS entry
WHERE entry.queue = :queue
    AND entry.is_ripe = 1
    AND entry.user_id = :user_id
    AND entry.label = :label
    AND entry.ready_at <= :now
    AND NOT EXISTS (SELECT 1 FROM runs WHERE run_id = entry.item AND min_reader > :reader)
ORDER BY entry.ready_at
LIMIT :limit
