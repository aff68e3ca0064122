-- The visible entries that hold one of the terms, the best by SQLite's own weights first.
SELECT memory.memory_no FROM memory_words CROSS JOIN memory ON memory.memory_no = memory_words.rowid
WHERE memory_words MATCH :match AND {visible}
ORDER BY memory_words.rank
LIMIT :limit
