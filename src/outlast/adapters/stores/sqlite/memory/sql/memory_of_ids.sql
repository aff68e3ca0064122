SELECT memory_id, memory_no, user_no FROM memory WHERE memory_id IN (SELECT value FROM json_each(:memory_ids))
