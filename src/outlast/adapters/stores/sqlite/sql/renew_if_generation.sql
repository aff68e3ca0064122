UPDATE queue_entries
SET until = :until, is_ripe = 0
WHERE queue = :queue AND item = :item AND generation = :generation AND until IS NOT NULL
