-- The vectors of those of the entries that are visible.
SELECT memory.memory_no, memory_vector.vector FROM memory JOIN memory_vector USING (memory_no)
WHERE
    memory.memory_no IN (SELECT value FROM json_each(:numbers))
    AND memory_vector.space = :space
    AND memory_vector.vector <> x''
    AND {visible}
