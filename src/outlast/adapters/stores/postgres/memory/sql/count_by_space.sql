SELECT space, count(*) FROM {schema}.memory_sketch WHERE $1::bigint IS NULL OR user_no = $1 GROUP BY space
