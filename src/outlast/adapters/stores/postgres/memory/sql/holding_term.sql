SELECT count(*) FROM {schema}.memory WHERE words @@ $1::text::tsquery
