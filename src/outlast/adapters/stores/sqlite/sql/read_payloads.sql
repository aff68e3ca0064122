-- :digests is a JSON list.
SELECT digest, content FROM payloads WHERE digest IN (SELECT value FROM json_each(:digests))
