SELECT {columns} FROM memory JOIN memory_user USING (user_no)
WHERE
    memory.archived_at IS NULL
    AND NOT EXISTS (
        SELECT 1 FROM memory_vector
        WHERE memory_vector.memory_no = memory.memory_no AND memory_vector.space = :space
    )
ORDER BY memory.memory_no DESC
LIMIT :limit
