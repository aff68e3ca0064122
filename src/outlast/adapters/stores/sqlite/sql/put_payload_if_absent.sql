INSERT INTO payloads (digest, content) VALUES (?1, ?2) ON CONFLICT DO NOTHING
