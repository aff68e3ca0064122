INSERT INTO memory_vector (memory_no, space, vector) VALUES (:memory_no, :space, :vector)
ON CONFLICT (memory_no, space) DO UPDATE SET vector = excluded.vector
