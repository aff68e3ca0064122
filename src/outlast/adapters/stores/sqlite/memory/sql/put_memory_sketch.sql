-- A sketch that changes gets a new number, so that whoever remembers the last one sees it.
INSERT OR REPLACE INTO memory_sketch (user_no, space, memory_no, sketch) VALUES (:user_no, :space, :memory_no, :sketch)
