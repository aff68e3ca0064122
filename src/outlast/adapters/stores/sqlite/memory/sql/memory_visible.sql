-- What an asker may see of the entries that hold, for {visible}.
memory.user_no = :user_no
AND (memory.thread_id IS NULL OR memory.thread_id = :thread_id)
AND (memory.run_id IS NULL OR memory.run_id = :run_id)
AND memory.archived_at IS NULL
AND (memory.expires_at IS NULL OR memory.expires_at > :at)
AND memory.valid_from <= :at
AND (memory.valid_to IS NULL OR memory.valid_to > :at OR :include_outdated)
AND (:kinds IS NULL OR memory.kind IN (SELECT value FROM json_each(:kinds)))
AND (
    :subtasks IS NULL
    OR memory.subtasks = '[]'
    OR memory.origin_run IS NOT :run_id
    OR EXISTS (
        SELECT 1 FROM json_each(memory.subtasks) AS own
        WHERE own.value IN (SELECT value FROM json_each(:subtasks))
    )
)
