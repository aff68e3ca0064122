SELECT memory_no, user_no, terms FROM memory WHERE expires_at <= :now LIMIT :limit
