SELECT memory_no, memory_id FROM memory WHERE memory_id = :memory_id AND user_no = :user_no
