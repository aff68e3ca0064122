-- Payloads to which no stream that has events refers.
SELECT digest, length(content)
FROM payloads
WHERE NOT EXISTS (
    SELECT 1
    FROM payload_references AS held
    WHERE held.digest = payloads.digest AND EXISTS (SELECT 1 FROM events WHERE events.stream = held.stream)
)
ORDER BY digest
