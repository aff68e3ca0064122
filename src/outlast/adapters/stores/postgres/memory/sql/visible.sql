-- What an asker may see of the entries that hold, for {visible}: $1 user, $2 thread, $3 run, $4 time, $5 include outdated, $6 kinds,
-- $7 subtasks.
memory.user_no = $1::bigint
AND (memory.thread_id IS NULL OR memory.thread_id = $2::text)
AND (memory.run_id IS NULL OR memory.run_id = $3::text)
AND memory.archived_at IS NULL
AND (memory.expires_at IS NULL OR memory.expires_at > $4::timestamptz)
AND memory.valid_from <= $4::timestamptz
AND (memory.valid_to IS NULL OR memory.valid_to > $4::timestamptz OR $5::boolean)
AND ($6::text[] IS NULL OR memory.kind = ANY ($6::text[]))
AND (
    $7::text[] IS NULL
    OR memory.subtasks = '{}'
    OR memory.origin_run IS DISTINCT FROM $3::text
    OR memory.subtasks && $7::text[]
)
