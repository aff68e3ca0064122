-- Work that goes on elsewhere. `result` is read by itself alone; `body` is opaque.
CREATE TABLE background_tasks (
    task_id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    name TEXT NOT NULL,
    server TEXT NOT NULL,
    remote_id TEXT,
    status TEXT NOT NULL,
    tracking TEXT NOT NULL,
    notification TEXT NOT NULL,
    is_open INTEGER NOT NULL,
    event_version INTEGER NOT NULL,
    notified_version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    body_version INTEGER NOT NULL,
    body TEXT NOT NULL,
    revision INTEGER NOT NULL,
    result TEXT
);
CREATE UNIQUE INDEX background_task_names ON background_tasks (thread_id, name);
CREATE UNIQUE INDEX background_task_remotes ON background_tasks (user_id, server, remote_id) WHERE remote_id IS NOT NULL;
CREATE INDEX background_tasks_by_age ON background_tasks (created_at);
CREATE INDEX background_tasks_of_user ON background_tasks (user_id, created_at);
CREATE INDEX background_tasks_of_thread ON background_tasks (thread_id, created_at);
CREATE INDEX background_tasks_of_run ON background_tasks (run_id, created_at);
CREATE INDEX background_tasks_in_status ON background_tasks (status, created_at);
CREATE INDEX background_tasks_tracked_as ON background_tasks (tracking, created_at);
CREATE INDEX background_tasks_notified_as ON background_tasks (notification, created_at);
CREATE INDEX background_tasks_open ON background_tasks (created_at) WHERE is_open;
CREATE INDEX background_tasks_undelivered ON background_tasks (thread_id, created_at) WHERE event_version > notified_version;
