-- The plan is named because few runs of many are old; sorting those is less than walking all.
SELECT run_id
FROM runs INDEXED BY ended_runs
WHERE NOT is_active AND updated_at < :before
ORDER BY created_at, rowid
