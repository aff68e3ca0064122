SELECT memory.memory_no, {columns} FROM {schema}.memory JOIN {schema}.memory_user USING (user_no)
WHERE memory.memory_no = ANY ($1::bigint[])
