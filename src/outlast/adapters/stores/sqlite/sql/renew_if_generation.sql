UPDATE queue_entries
SET until = :until
WHERE queue = :queue AND item = :item AND generation = :generation AND until IS NOT NULL
