-- ?1 stream, ?2 the position it must end at, ?3 queue and ?4 generation of a lease that must still be held (NULL: none).
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
