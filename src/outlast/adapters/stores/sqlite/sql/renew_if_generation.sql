UPDATE queue_entries
SET until = ?4
WHERE queue = ?1 AND item = ?2 AND generation = ?3 AND until IS NOT NULL
