SELECT {columns} FROM {schema}.memory JOIN {schema}.memory_user USING (user_no)
WHERE memory_user.user_id = $1 AND memory.memory_id = ANY ($2::text[])
