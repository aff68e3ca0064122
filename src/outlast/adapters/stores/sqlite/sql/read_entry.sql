SELECT queue, item, due_at, generation, holder, until, note FROM queue_entries WHERE queue = :queue AND item = :item
