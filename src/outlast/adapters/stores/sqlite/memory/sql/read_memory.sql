SELECT memory.memory_no, {columns} FROM memory JOIN memory_user USING (user_no)
WHERE memory.memory_no IN (SELECT value FROM json_each(:numbers))
