SELECT digest, memory_id, memory_no FROM {schema}.memory
WHERE user_no = $1 AND digest = ANY ($2::text[]) AND valid_to IS NULL AND archived_at IS NULL
