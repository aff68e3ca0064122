SELECT DISTINCT user_no FROM {schema}.memory WHERE expires_at <= $1
