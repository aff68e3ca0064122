DELETE FROM memory WHERE memory_no IN (SELECT value FROM json_each(:numbers))
