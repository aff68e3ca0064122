-- How many entries have to be marked ripe, counted up to :most.
SELECT count(*)
FROM (
    SELECT 1
    FROM queue_entries
    WHERE queue = :queue AND is_ripe = 0 AND ready_at IS NOT NULL AND ready_at <= :now
    LIMIT :most
)
