SELECT queue, item, due_at, generation, holder, until, note
FROM {schema}.queue_entries
WHERE queue = $1 AND until > clock_timestamp()
ORDER BY until
LIMIT $2
