-- ?1 holder, ?2 until, ?3 queue, ?4 item, ?5 now, ?6 reader version, ?7 generation of a lease to take over (NULL: none).
UPDATE queue_entries
SET generation = generation + 1, holder = ?1, until = ?2, attempts = attempts + 1, due_at = NULL
WHERE queue = ?3
    AND item = ?4
    AND (until IS NULL OR until <= ?5 OR generation = ?7)
    AND NOT EXISTS (SELECT 1 FROM runs WHERE run_id = ?4 AND min_reader > ?6)
RETURNING item, generation, attempts
