-- Times are whole microseconds since 1970-01-01 UTC; truths are 0 and 1.

CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    stream TEXT NOT NULL,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    version INTEGER NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL
);
CREATE UNIQUE INDEX events_by_position ON events (stream, position);

CREATE TABLE snapshots (
    stream TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    fold_version INTEGER NOT NULL,
    body TEXT NOT NULL
);

CREATE TABLE payloads (
    digest TEXT PRIMARY KEY,
    content BLOB NOT NULL
);

CREATE TABLE payload_references (
    stream TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (stream, digest)
) WITHOUT ROWID;
CREATE INDEX payload_references_by_digest ON payload_references (digest);

CREATE TABLE threads (
    thread_id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    title TEXT NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE INDEX threads_of_user ON threads (user_id, created_at);

CREATE TABLE runs (
    run_id TEXT PRIMARY KEY,
    thread_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    task TEXT NOT NULL,
    state TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    summary TEXT NOT NULL,
    idempotency_key TEXT,
    outcome TEXT,
    min_reader INTEGER NOT NULL
);
CREATE UNIQUE INDEX runs_by_key ON runs (user_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX active_run_of_thread ON runs (thread_id) WHERE is_active;
CREATE INDEX runs_by_age ON runs (created_at);
CREATE INDEX runs_of_user ON runs (user_id, created_at);
CREATE INDEX runs_of_thread ON runs (thread_id, created_at);

-- An entry under a lease has `until`; the lease's end is when it can be claimed again. Without one it is due at `due_at`,
-- or never while that is NULL.
CREATE TABLE queue_entries (
    queue TEXT NOT NULL,
    item TEXT NOT NULL,
    due_at INTEGER,
    generation INTEGER NOT NULL DEFAULT 0,
    holder TEXT,
    until INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    user_id TEXT NOT NULL,
    label TEXT NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    ready_at INTEGER GENERATED ALWAYS AS (coalesce(until, due_at)) VIRTUAL,
    PRIMARY KEY (queue, item)
);
CREATE INDEX queue_entries_ready ON queue_entries (queue, ready_at) WHERE ready_at IS NOT NULL;

-- A number that grows with every commit that makes an entry of the queue due, so that other processes see it.
CREATE TABLE queue_marks (
    queue TEXT PRIMARY KEY,
    mark INTEGER NOT NULL
);
