-- :entries is a JSON list of entries that were found due in this transaction.
UPDATE queue_entries
SET generation = generation + 1, holder = :holder, until = :until, attempts = attempts + 1, due_at = NULL, is_ripe = 0
WHERE rowid IN (SELECT value FROM json_each(:entries))
RETURNING rowid, item, generation, attempts
