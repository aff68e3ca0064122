-- ?2 now, ?3 reader version, ?4 how many at most.
SELECT entry.rowid
FROM queue_entries AS entry
WHERE entry.queue = ?1
    AND entry.ready_at <= ?2
    AND NOT EXISTS (SELECT 1 FROM runs WHERE run_id = entry.item AND min_reader > ?3)
ORDER BY entry.ready_at
LIMIT ?4
