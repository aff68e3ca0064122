UPDATE {schema}.memory AS memory SET archived_at = $9 WHERE memory.archived_at IS NULL AND {chosen} RETURNING 1
