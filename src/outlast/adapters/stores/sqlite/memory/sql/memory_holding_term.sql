SELECT count(*) FROM memory_words WHERE memory_words MATCH :term
