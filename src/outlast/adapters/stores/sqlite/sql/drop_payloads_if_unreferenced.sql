-- :digests is a JSON list.
DELETE FROM payloads
WHERE digest IN (SELECT value FROM json_each(:digests))
    AND NOT EXISTS (SELECT 1 FROM payload_references AS held WHERE held.digest = payloads.digest)
