UPDATE queue_entries SET until = ?3 WHERE queue = ?1 AND item = ?2 AND until > ?3
