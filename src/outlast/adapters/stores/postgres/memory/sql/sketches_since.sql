SELECT sketch_no, memory_no, sketch FROM {schema}.memory_sketch
WHERE user_no = $1 AND space = $2 AND sketch_no > $3
ORDER BY sketch_no
