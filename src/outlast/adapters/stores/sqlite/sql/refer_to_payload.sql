INSERT INTO payload_references (stream, digest) VALUES (?1, ?2) ON CONFLICT DO NOTHING
