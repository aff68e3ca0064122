-- Payloads to which no stream that has events refers.
SELECT payload.digest, octet_length(payload.content)
FROM {schema}.payloads AS payload
WHERE NOT EXISTS (
    SELECT 1
    FROM {schema}.payload_references AS held
    JOIN {schema}.streams AS known USING (stream)
    WHERE held.digest = payload.digest
)
ORDER BY payload.digest
