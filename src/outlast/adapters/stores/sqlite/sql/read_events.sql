-- ?2 the position to read after, ?3 how many at most (-1: all).
SELECT position, kind, version, at, body
FROM events
WHERE stream = ?1 AND position > ?2
ORDER BY position
LIMIT ?3
