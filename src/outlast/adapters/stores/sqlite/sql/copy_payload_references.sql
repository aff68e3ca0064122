INSERT INTO payload_references (stream, digest)
SELECT ?2, digest FROM payload_references WHERE stream = ?1
ON CONFLICT DO NOTHING
