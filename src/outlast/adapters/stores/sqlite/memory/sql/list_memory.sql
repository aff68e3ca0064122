SELECT {columns} FROM memory JOIN memory_user USING (user_no)
WHERE {chosen} AND (:before_at IS NULL OR (memory.created_at, memory.memory_id) < (:before_at, :before_id))
ORDER BY memory.created_at DESC, memory.memory_id DESC
LIMIT :limit
