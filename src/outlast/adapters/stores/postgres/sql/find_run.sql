SELECT
    run_id, thread_id, user_id, task, state, is_active, created_at, updated_at, summary, idempotency_key, outcome, min_reader
FROM {schema}.runs
WHERE user_id = $1 AND idempotency_key = $2
