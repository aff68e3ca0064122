SELECT CASE
    WHEN EXISTS (SELECT 1 FROM runs WHERE run_id = :run_id) THEN 'exists'
    WHEN EXISTS (SELECT 1 FROM runs WHERE user_id = :user_id AND idempotency_key = :key) THEN 'key'
    WHEN :is_active AND EXISTS (SELECT 1 FROM runs WHERE thread_id = :thread_id AND is_active) THEN 'thread_busy'
    ELSE 'missing'
END
