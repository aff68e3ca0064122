-- ?1 run, ?2 thread, ?3 user, ?4 key, ?5 is the run active.
SELECT CASE
    WHEN EXISTS (SELECT 1 FROM runs WHERE run_id = ?1) THEN 'exists'
    WHEN EXISTS (SELECT 1 FROM runs WHERE user_id = ?3 AND idempotency_key = ?4) THEN 'key'
    WHEN ?5 AND EXISTS (SELECT 1 FROM runs WHERE thread_id = ?2 AND is_active) THEN 'thread_busy'
    ELSE 'missing'
END
