SELECT run_id FROM runs ORDER BY created_at, rowid
