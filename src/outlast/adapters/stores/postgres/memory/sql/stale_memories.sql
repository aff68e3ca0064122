SELECT {columns} FROM {schema}.memory JOIN {schema}.memory_user USING (user_no)
WHERE
    memory.archived_at IS NULL
    AND NOT EXISTS (
        SELECT 1 FROM {schema}.memory_vector
        WHERE memory_vector.memory_no = memory.memory_no AND memory_vector.space = $1
    )
ORDER BY memory.memory_no DESC
LIMIT $2
