SELECT user_no, entries, terms, removals FROM {schema}.memory_user WHERE user_id = $1
