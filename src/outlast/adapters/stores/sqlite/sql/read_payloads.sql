-- ?1 a JSON list of digests.
SELECT digest, content FROM payloads WHERE digest IN (SELECT value FROM json_each(?1))
