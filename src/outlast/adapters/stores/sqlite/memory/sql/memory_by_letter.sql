-- The newest visible entries that hold the query letter by letter.
SELECT memory.memory_no FROM memory
WHERE instr(lower(memory.text), lower(:literal)) AND {visible}
ORDER BY memory.memory_no DESC
LIMIT :limit
