SELECT CASE
    WHEN coalesce((SELECT head FROM {schema}.streams WHERE stream = $1), 0) <> $2 THEN 'position'
    WHEN NOT EXISTS (
        SELECT 1 FROM {schema}.queue_entries WHERE queue = $3 AND item = $1 AND generation = $4 AND until IS NOT NULL
    ) THEN 'generation'
    ELSE 'position'
END
