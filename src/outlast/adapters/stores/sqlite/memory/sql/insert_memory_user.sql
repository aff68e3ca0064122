INSERT INTO memory_user (user_id) VALUES (:user_id) ON CONFLICT (user_id) DO NOTHING
