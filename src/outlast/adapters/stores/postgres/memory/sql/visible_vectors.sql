-- The vectors of those of the entries that are visible.
SELECT memory.memory_no, memory_vector.vector FROM {schema}.memory JOIN {schema}.memory_vector USING (memory_no)
WHERE memory.memory_no = ANY ($8::bigint[]) AND memory_vector.space = $9 AND memory_vector.vector <> ''::bytea AND {visible}
