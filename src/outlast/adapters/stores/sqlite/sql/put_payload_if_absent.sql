INSERT INTO payloads (digest, content) VALUES (:digest, :content) ON CONFLICT DO NOTHING
