SELECT item FROM {schema}.queue_entries WHERE queue = $1 ORDER BY item
