-- The entries of a filter, for {chosen}.
(:user_no IS NULL OR memory.user_no = :user_no)
AND (:memory_ids IS NULL OR memory.memory_id IN (SELECT value FROM json_each(:memory_ids)))
AND (:kinds IS NULL OR memory.kind IN (SELECT value FROM json_each(:kinds)))
AND (:source IS NULL OR memory.source = :source)
AND (:of_thread IS NULL OR memory.origin_thread = :of_thread OR memory.thread_id = :of_thread)
AND (:of_run IS NULL OR memory.origin_run = :of_run OR memory.run_id = :of_run)
AND (:ended_before IS NULL OR memory.valid_to < :ended_before)
AND (:archived IS NULL OR (memory.archived_at IS NOT NULL) = :archived)
