SELECT {columns} FROM memory JOIN memory_user USING (user_no)
WHERE memory.user_no = :user_no AND memory.memory_id IN (SELECT value FROM json_each(:memory_ids))
