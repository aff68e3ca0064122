INSERT INTO payload_references (stream, digest) VALUES (:stream, :digest) ON CONFLICT DO NOTHING
