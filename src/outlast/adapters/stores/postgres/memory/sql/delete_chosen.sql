DELETE FROM {schema}.memory AS memory WHERE {chosen} RETURNING memory.user_no, memory.terms
