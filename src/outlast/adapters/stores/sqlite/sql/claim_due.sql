-- ?1 holder, ?2 until, ?3 a JSON list of entries that were found due in this transaction.
UPDATE queue_entries
SET generation = generation + 1, holder = ?1, until = ?2, attempts = attempts + 1, due_at = NULL
WHERE rowid IN (SELECT value FROM json_each(?3))
RETURNING rowid, item, generation, attempts
