SELECT item FROM queue_entries WHERE queue = :queue ORDER BY item
