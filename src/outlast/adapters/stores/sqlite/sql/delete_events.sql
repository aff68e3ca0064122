DELETE FROM events WHERE stream = :stream
