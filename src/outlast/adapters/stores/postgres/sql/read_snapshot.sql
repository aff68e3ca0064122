SELECT position, fold_version, body FROM {schema}.snapshots WHERE stream = $1
