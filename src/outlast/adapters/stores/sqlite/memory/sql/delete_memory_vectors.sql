DELETE FROM memory_vector WHERE memory_no IN (SELECT value FROM json_each(:numbers))
