-- Guard: no live lease, or one of the generation :evict (NULL: none is taken over).
UPDATE queue_entries
SET generation = generation + 1, holder = :holder, until = :until, attempts = attempts + 1, due_at = NULL, is_ripe = 0
WHERE queue = :queue
    AND item = :item
    AND (until IS NULL OR until <= :now OR generation = :evict)
    AND NOT EXISTS (SELECT 1 FROM runs WHERE run_id = :item AND min_reader > :reader)
RETURNING item, generation, attempts
