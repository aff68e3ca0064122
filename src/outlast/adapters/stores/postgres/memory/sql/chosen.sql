-- The entries of a filter, for {chosen}: $1 user, $2 ids, $3 kinds, $4 source, $5 thread, $6 run, $7 ended before, $8 archived.
($1::bigint IS NULL OR memory.user_no = $1::bigint)
AND ($2::text[] IS NULL OR memory.memory_id = ANY ($2::text[]))
AND ($3::text[] IS NULL OR memory.kind = ANY ($3::text[]))
AND ($4::text IS NULL OR memory.source = $4::text)
AND ($5::text IS NULL OR memory.origin_thread = $5::text OR memory.thread_id = $5::text)
AND ($6::text IS NULL OR memory.origin_run = $6::text OR memory.run_id = $6::text)
AND ($7::timestamptz IS NULL OR memory.valid_to < $7::timestamptz)
AND ($8::boolean IS NULL OR (memory.archived_at IS NOT NULL) = $8::boolean)
