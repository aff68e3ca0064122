SELECT DISTINCT stream
FROM payload_references AS held
WHERE NOT EXISTS (SELECT 1 FROM events WHERE events.stream = held.stream)
ORDER BY stream
