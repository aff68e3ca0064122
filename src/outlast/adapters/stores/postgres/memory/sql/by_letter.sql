-- The newest visible entries that hold the query letter by letter.
SELECT memory.memory_no FROM {schema}.memory
WHERE strpos(lower(memory.text), lower($8::text)) > 0 AND {visible}
ORDER BY memory.memory_no DESC
LIMIT $9
