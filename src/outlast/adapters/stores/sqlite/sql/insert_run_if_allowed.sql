INSERT INTO runs (
    run_id, thread_id, user_id, task, state, is_active, created_at, updated_at, summary, idempotency_key, outcome, min_reader
)
SELECT :run_id, :thread_id, :user_id, :task, :state, :is_active, :created_at, :updated_at, :summary, :key, :outcome, :min_reader
WHERE NOT EXISTS (SELECT 1 FROM runs WHERE run_id = :run_id)
    AND NOT EXISTS (SELECT 1 FROM runs WHERE user_id = :user_id AND idempotency_key = :key)
    AND NOT (:is_active AND EXISTS (SELECT 1 FROM runs WHERE thread_id = :thread_id AND is_active))
    AND EXISTS (SELECT 1 FROM threads WHERE thread_id = :thread_id)
