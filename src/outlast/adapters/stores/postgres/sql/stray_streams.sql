SELECT DISTINCT held.stream
FROM {schema}.payload_references AS held
WHERE NOT EXISTS (SELECT 1 FROM {schema}.streams AS known WHERE known.stream = held.stream)
ORDER BY held.stream
