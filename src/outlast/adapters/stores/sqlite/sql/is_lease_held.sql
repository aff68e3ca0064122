SELECT EXISTS (
    SELECT 1 FROM queue_entries
    WHERE queue = ?1 AND item = ?2 AND generation = ?3 AND until IS NOT NULL
)
