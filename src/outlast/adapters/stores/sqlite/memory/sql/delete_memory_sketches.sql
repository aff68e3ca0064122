DELETE FROM memory_sketch WHERE memory_no IN (SELECT value FROM json_each(:numbers))
