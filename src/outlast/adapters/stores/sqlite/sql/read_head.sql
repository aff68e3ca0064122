SELECT coalesce(max(position), 0) FROM events WHERE stream = :stream
