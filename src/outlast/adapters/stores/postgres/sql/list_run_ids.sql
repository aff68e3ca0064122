SELECT run_id FROM {schema}.runs ORDER BY created_at, seq
