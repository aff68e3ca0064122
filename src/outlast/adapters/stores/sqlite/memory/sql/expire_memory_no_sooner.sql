UPDATE memory SET expires_at = CASE WHEN :expires_at IS NULL THEN NULL ELSE max(expires_at, :expires_at) END
WHERE memory_no = :memory_no AND expires_at IS NOT NULL
