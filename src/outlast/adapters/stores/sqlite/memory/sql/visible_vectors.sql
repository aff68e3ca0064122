-- The vectors of those of the entries that are visible. The joins are crossed so that each entry is looked up by its number.
SELECT memory.memory_no, memory_vector.vector FROM json_each(:numbers) AS wanted
CROSS JOIN memory ON memory.memory_no = wanted.value
CROSS JOIN memory_vector ON memory_vector.memory_no = memory.memory_no AND memory_vector.space = :space
WHERE memory_vector.vector <> x'' AND {visible}
