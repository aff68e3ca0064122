-- Events after the position :after, at most :limit of them (-1: all).
SELECT position, kind, version, at, body
FROM events
WHERE stream = :stream AND position > :after
ORDER BY position
LIMIT :limit
