SELECT thread_id, user_id, title, created_at
FROM threads
WHERE user_id = :user_id
ORDER BY created_at DESC, rowid DESC
LIMIT :limit
