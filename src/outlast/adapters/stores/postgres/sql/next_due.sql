SELECT coalesce(until, due_at)
FROM {schema}.queue_entries
WHERE queue = $1 AND coalesce(until, due_at) IS NOT NULL
ORDER BY coalesce(until, due_at)
LIMIT 1
