UPDATE memory SET valid_to = max(:at, valid_from), superseded_by = :new
WHERE
    user_no = :user_no
    AND memory_id IN (SELECT value FROM json_each(:old))
    AND memory_id <> :new
    AND (valid_to IS NULL OR valid_to > :at)
    AND EXISTS (SELECT 1 FROM memory AS newer WHERE newer.memory_id = :new AND newer.user_no = :user_no)
