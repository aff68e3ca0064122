INSERT INTO {schema}.memory (
    memory_id, user_no, thread_id, run_id, kind, text, title, source, subtasks, origin_thread, origin_run, origin_position,
    created_at, valid_from, valid_to, expires_at, superseded_by, archived_at, digest, terms, words
) VALUES (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21::text::tsvector
)
