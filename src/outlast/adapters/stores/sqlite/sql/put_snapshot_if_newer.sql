INSERT INTO snapshots (stream, position, fold_version, body)
VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (stream) DO UPDATE
SET position = excluded.position, fold_version = excluded.fold_version, body = excluded.body
WHERE excluded.position >= snapshots.position
