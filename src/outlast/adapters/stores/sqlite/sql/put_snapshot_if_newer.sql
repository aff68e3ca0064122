INSERT INTO snapshots (stream, position, fold_version, body)
VALUES (:stream, :position, :fold_version, :body)
ON CONFLICT (stream) DO UPDATE
SET position = excluded.position, fold_version = excluded.fold_version, body = excluded.body
WHERE excluded.position >= snapshots.position
