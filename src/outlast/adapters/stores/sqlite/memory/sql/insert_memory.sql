INSERT INTO memory (
    memory_id, user_no, thread_id, run_id, kind, text, title, source, subtasks, origin_thread, origin_run, origin_position,
    created_at, valid_from, valid_to, expires_at, superseded_by, archived_at, digest, terms
) VALUES (
    :memory_id, :user_no, :thread_id, :run_id, :kind, :text, :title, :source, :subtasks, :origin_thread, :origin_run,
    :origin_position, :created_at, :valid_from, :valid_to, :expires_at, :superseded_by, :archived_at, :digest, :terms
)
