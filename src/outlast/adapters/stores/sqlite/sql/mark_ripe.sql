UPDATE queue_entries SET is_ripe = 1 WHERE queue = :queue AND is_ripe = 0 AND ready_at IS NOT NULL AND ready_at <= :now
