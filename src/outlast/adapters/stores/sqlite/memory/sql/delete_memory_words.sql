DELETE FROM memory_words WHERE rowid IN (SELECT value FROM json_each(:numbers))
