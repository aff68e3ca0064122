DELETE FROM snapshots WHERE stream = :stream
