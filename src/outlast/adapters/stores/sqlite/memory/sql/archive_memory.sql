UPDATE memory SET archived_at = :at WHERE archived_at IS NULL AND {chosen}
