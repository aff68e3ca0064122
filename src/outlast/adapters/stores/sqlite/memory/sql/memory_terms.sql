SELECT memory.memory_no, memory_words.terms, memory.valid_to FROM memory_words JOIN memory ON memory.memory_no = memory_words.rowid
WHERE memory_words.rowid IN (SELECT value FROM json_each(:numbers))
