SELECT run_id FROM {schema}.runs WHERE NOT is_active AND updated_at < $1 ORDER BY created_at, seq
