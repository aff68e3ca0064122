SELECT batch, item, guard FROM {schema}.commit_batches($1::jsonb, $2::bytea[])
