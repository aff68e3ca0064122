INSERT INTO payload_references (stream, digest)
SELECT :target, digest FROM payload_references WHERE stream = :source
ON CONFLICT DO NOTHING
