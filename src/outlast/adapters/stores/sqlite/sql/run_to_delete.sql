-- Is the run active, and where does its stream end?
SELECT is_active, (SELECT coalesce(max(position), 0) FROM events WHERE stream = :run_id)
FROM runs
WHERE run_id = :run_id
