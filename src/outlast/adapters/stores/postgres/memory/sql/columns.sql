-- What an entry is read from, for {columns}.
memory.memory_id, memory_user.user_id, memory.thread_id, memory.run_id, memory.kind, memory.text, memory.title, memory.source,
memory.subtasks, memory.origin_thread, memory.origin_run, memory.origin_position, memory.created_at, memory.valid_from,
memory.valid_to, memory.expires_at, memory.superseded_by, memory.archived_at
