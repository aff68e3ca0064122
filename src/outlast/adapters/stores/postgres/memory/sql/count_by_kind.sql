SELECT kind, count(*), count(archived_at), count(valid_to) FILTER (WHERE archived_at IS NULL) FROM {schema}.memory
WHERE $1::bigint IS NULL OR user_no = $1
GROUP BY kind
