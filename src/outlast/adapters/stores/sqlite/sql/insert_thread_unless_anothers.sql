INSERT INTO threads (thread_id, user_id, title, created_at)
VALUES (:thread_id, :user_id, :title, :created_at)
ON CONFLICT (thread_id) DO UPDATE SET user_id = excluded.user_id WHERE threads.user_id = excluded.user_id
