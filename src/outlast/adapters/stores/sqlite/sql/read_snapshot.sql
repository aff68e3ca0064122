SELECT position, fold_version, body FROM snapshots WHERE stream = :stream
