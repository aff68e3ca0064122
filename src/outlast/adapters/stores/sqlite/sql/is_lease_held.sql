SELECT EXISTS (
    SELECT 1 FROM queue_entries
    WHERE queue = :queue AND item = :item AND generation = :generation AND until IS NOT NULL
)
