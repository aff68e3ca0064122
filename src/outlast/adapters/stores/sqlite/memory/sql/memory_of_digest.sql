SELECT memory_no, memory_id FROM memory
WHERE user_no = :user_no AND digest = :digest AND valid_to IS NULL AND archived_at IS NULL
