-- A sketch that changes gets a new number, so that whoever remembers the last one sees it.
INSERT INTO {schema}.memory_sketch (user_no, space, sketch_no, memory_no, sketch) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (memory_no, space) DO UPDATE SET sketch_no = excluded.sketch_no, sketch = excluded.sketch
