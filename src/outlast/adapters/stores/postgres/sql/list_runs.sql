-- Narrowed by each of user, thread, state and task that is not NULL.
SELECT
    run_id, thread_id, user_id, task, state, is_active, created_at, updated_at, summary, idempotency_key, outcome, min_reader
FROM {schema}.runs
WHERE ($1::text IS NULL OR user_id = $1)
    AND ($2::text IS NULL OR thread_id = $2)
    AND ($3::text IS NULL OR state = $3)
    AND ($4::text IS NULL OR task = $4)
ORDER BY created_at DESC, seq DESC
LIMIT $5
