INSERT INTO {schema}.memory_vector (memory_no, space, vector) VALUES ($1, $2, $3)
ON CONFLICT (memory_no, space) DO UPDATE SET vector = excluded.vector
