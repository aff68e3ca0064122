SELECT user_id, user_no, sketches FROM {schema}.memory_user WHERE user_id = ANY ($1::text[]) ORDER BY user_no FOR UPDATE
