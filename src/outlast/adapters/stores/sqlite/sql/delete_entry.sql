DELETE FROM queue_entries WHERE queue = :queue AND item = :item
