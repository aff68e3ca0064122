-- Guards: the stream ?1 ends at ?2, and its lease in the queue ?3 is still held under the generation ?4 (NULL: no such guard).
INSERT INTO events (stream, position, kind, version, at, body)
SELECT ?1, ?2 + column1, column2, column3, column4, column5
FROM (VALUES {rows})
WHERE ?2 = (SELECT coalesce(max(position), 0) FROM events WHERE stream = ?1)
    AND (
        ?4 IS NULL
        OR EXISTS (
            SELECT 1 FROM queue_entries
            WHERE queue = ?3 AND item = ?1 AND generation = ?4 AND until IS NOT NULL
        )
    )
