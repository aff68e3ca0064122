DELETE FROM {schema}.memory WHERE expires_at <= $1 AND user_no = ANY ($2::bigint[]) RETURNING user_no, terms
