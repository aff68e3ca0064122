SELECT thread_id, user_id, title, created_at
FROM threads
WHERE user_id = ?1
ORDER BY created_at DESC, rowid DESC
LIMIT ?2
