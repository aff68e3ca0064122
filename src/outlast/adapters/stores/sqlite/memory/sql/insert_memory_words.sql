INSERT INTO memory_words (rowid, terms) VALUES (:memory_no, :terms)
