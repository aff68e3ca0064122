SELECT held.digest, coalesce(octet_length(payload.content), -1)
FROM {schema}.payload_references AS held
LEFT JOIN {schema}.payloads AS payload USING (digest)
WHERE held.stream = $1
ORDER BY held.digest
