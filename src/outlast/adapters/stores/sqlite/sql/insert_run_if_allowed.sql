INSERT INTO runs (
    run_id, thread_id, user_id, task, state, is_active, created_at, updated_at, summary, idempotency_key, outcome, min_reader
)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12
WHERE NOT EXISTS (SELECT 1 FROM runs WHERE run_id = ?1)
    AND NOT EXISTS (SELECT 1 FROM runs WHERE user_id = ?3 AND idempotency_key = ?10)
    AND NOT (?6 AND EXISTS (SELECT 1 FROM runs WHERE thread_id = ?2 AND is_active))
    AND EXISTS (SELECT 1 FROM threads WHERE thread_id = ?2)
