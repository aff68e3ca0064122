SELECT held.digest, coalesce(length(payloads.content), -1)
FROM payload_references AS held
LEFT JOIN payloads ON payloads.digest = held.digest
WHERE held.stream = :stream
ORDER BY held.digest
