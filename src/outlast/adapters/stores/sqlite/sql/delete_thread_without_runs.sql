DELETE FROM threads
WHERE thread_id = :thread_id AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.thread_id = :thread_id)
