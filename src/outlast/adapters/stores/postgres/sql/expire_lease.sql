UPDATE {schema}.queue_entries SET until = clock_timestamp() WHERE queue = $1 AND item = $2 AND until > clock_timestamp()
