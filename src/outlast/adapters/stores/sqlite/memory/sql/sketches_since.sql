SELECT sketch_no, memory_no, sketch FROM memory_sketch
WHERE user_no = :user_no AND space = :space AND sketch_no > :since
ORDER BY sketch_no
