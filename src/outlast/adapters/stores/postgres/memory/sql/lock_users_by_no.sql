SELECT user_no, sketches FROM {schema}.memory_user WHERE user_no = ANY ($1::bigint[]) ORDER BY user_no FOR UPDATE
