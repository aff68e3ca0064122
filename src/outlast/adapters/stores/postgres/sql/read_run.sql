SELECT
    run_id, thread_id, user_id, task, state, is_active, created_at, updated_at, summary, idempotency_key, outcome, min_reader
FROM {schema}.runs
WHERE run_id = $1
