SELECT thread_id, user_id, title, created_at
FROM {schema}.threads
WHERE user_id = $1
ORDER BY created_at DESC, seq DESC
LIMIT $2
