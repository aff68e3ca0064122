-- Events after the position $2, at most $3 of them (NULL: all).
SELECT position, kind, version, at, body
FROM {schema}.events
WHERE stream = $1 AND position > $2
ORDER BY position
LIMIT $3
