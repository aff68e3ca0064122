UPDATE queue_entries SET until = :now WHERE queue = :queue AND item = :item AND until > :now
