SELECT space, count(*) FROM memory_sketch WHERE :user_no IS NULL OR user_no = :user_no GROUP BY space
