SELECT DISTINCT stream FROM events WHERE seq > ?1
