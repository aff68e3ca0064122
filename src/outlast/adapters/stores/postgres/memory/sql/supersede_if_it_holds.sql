UPDATE {schema}.memory SET valid_to = greatest($4::timestamptz, valid_from), superseded_by = $3
WHERE
    user_no = $1
    AND memory_id = ANY ($2::text[])
    AND memory_id <> $3
    AND (valid_to IS NULL OR valid_to > $4::timestamptz)
    AND EXISTS (SELECT 1 FROM {schema}.memory AS newer WHERE newer.memory_id = $3 AND newer.user_no = $1)
RETURNING 1
