-- Work that goes on elsewhere. `result` is read by itself alone; `body` is opaque.
CREATE TABLE {schema}.background_tasks (
    task_id text COLLATE "C" PRIMARY KEY,
    user_id text COLLATE "C" NOT NULL,
    thread_id text COLLATE "C" NOT NULL,
    run_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    server text COLLATE "C" NOT NULL,
    remote_id text COLLATE "C",
    status text COLLATE "C" NOT NULL,
    tracking text COLLATE "C" NOT NULL,
    notification text COLLATE "C" NOT NULL,
    is_open boolean NOT NULL,
    event_version bigint NOT NULL,
    notified_version bigint NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    body_version bigint NOT NULL,
    body text NOT NULL,
    revision bigint NOT NULL,
    result text,
    seq bigint GENERATED ALWAYS AS IDENTITY
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX background_task_names ON {schema}.background_tasks (thread_id, name);
CREATE UNIQUE INDEX background_task_remotes ON {schema}.background_tasks (user_id, server, remote_id) WHERE remote_id IS NOT NULL;
CREATE INDEX background_tasks_by_age ON {schema}.background_tasks (created_at, seq);
CREATE INDEX background_tasks_of_user ON {schema}.background_tasks (user_id, created_at, seq);
CREATE INDEX background_tasks_of_thread ON {schema}.background_tasks (thread_id, created_at, seq);
CREATE INDEX background_tasks_of_run ON {schema}.background_tasks (run_id, created_at, seq);
CREATE INDEX background_tasks_in_status ON {schema}.background_tasks (status, created_at, seq);
CREATE INDEX background_tasks_tracked_as ON {schema}.background_tasks (tracking, created_at, seq);
CREATE INDEX background_tasks_notified_as ON {schema}.background_tasks (notification, created_at, seq);
CREATE INDEX background_tasks_open ON {schema}.background_tasks (created_at, seq) WHERE is_open;
CREATE INDEX background_tasks_undelivered ON {schema}.background_tasks (thread_id, created_at, seq)
WHERE event_version > notified_version;
