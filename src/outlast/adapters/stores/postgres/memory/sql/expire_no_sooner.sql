UPDATE {schema}.memory SET expires_at = CASE WHEN $2::timestamptz IS NULL THEN NULL ELSE greatest(expires_at, $2) END
WHERE memory_id = $1 AND expires_at IS NOT NULL
