SELECT {columns} FROM {schema}.memory JOIN {schema}.memory_user USING (user_no)
WHERE {chosen} AND ($9::timestamptz IS NULL OR (memory.created_at, memory.memory_id) < ($9::timestamptz, $10::text))
ORDER BY memory.created_at DESC, memory.memory_id DESC
LIMIT $11
