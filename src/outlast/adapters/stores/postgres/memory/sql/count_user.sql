UPDATE {schema}.memory_user SET entries = entries + $2, terms = terms + $3, removals = removals + ($2::bigint < 0)::int
WHERE user_no = $1
