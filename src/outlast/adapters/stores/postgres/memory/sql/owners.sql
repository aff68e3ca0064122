SELECT memory_id, memory_no, user_no FROM {schema}.memory WHERE memory_id = ANY ($1::text[])
