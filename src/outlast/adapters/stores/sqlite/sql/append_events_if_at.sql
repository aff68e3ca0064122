-- Guards: the stream ends at :after, and its lease in :queue is still held under :generation (NULL: no such guard).
INSERT INTO events (stream, position, kind, version, at, body)
SELECT :stream, :after + column1, column2, column3, column4, column5
FROM (VALUES {rows})
WHERE :after = (SELECT coalesce(max(position), 0) FROM events WHERE stream = :stream)
    AND (
        :generation IS NULL
        OR EXISTS (
            SELECT 1 FROM queue_entries
            WHERE queue = :queue AND item = :stream AND generation = :generation AND until IS NOT NULL
        )
    )
