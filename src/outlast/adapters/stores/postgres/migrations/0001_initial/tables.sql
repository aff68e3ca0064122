-- Names are compared byte by byte, whatever the database's collation.

-- Where each stream ends. The row is what appends of one stream queue up for.
CREATE TABLE {schema}.streams (
    stream text COLLATE "C" PRIMARY KEY,
    head bigint NOT NULL
) WITH (fillfactor = 70);

-- `batch` is a number drawn for the commit that wrote the event, so that its writer can tell later whether that commit holds.
CREATE TABLE {schema}.events (
    stream text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    kind text NOT NULL,
    version bigint NOT NULL,
    at timestamptz NOT NULL,
    body text NOT NULL,
    batch bigint NOT NULL,
    PRIMARY KEY (stream, position)
);

CREATE TABLE {schema}.snapshots (
    stream text COLLATE "C" PRIMARY KEY,
    position bigint NOT NULL,
    fold_version bigint NOT NULL,
    body text NOT NULL
);

CREATE TABLE {schema}.payloads (
    digest text COLLATE "C" PRIMARY KEY,
    content bytea NOT NULL
);

CREATE TABLE {schema}.payload_references (
    stream text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    PRIMARY KEY (stream, digest)
);
CREATE INDEX payload_references_by_digest ON {schema}.payload_references (digest);

CREATE TABLE {schema}.threads (
    thread_id text COLLATE "C" PRIMARY KEY,
    user_id text COLLATE "C" NOT NULL,
    title text NOT NULL,
    created_at timestamptz NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY
);
CREATE INDEX threads_of_user ON {schema}.threads (user_id, created_at, seq);

CREATE TABLE {schema}.runs (
    run_id text COLLATE "C" PRIMARY KEY,
    thread_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL,
    task text NOT NULL,
    state text NOT NULL,
    is_active boolean NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    summary text NOT NULL,
    idempotency_key text COLLATE "C",
    outcome text,
    min_reader bigint NOT NULL,
    seq bigint GENERATED ALWAYS AS IDENTITY
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX runs_by_key ON {schema}.runs (user_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX active_run_of_thread ON {schema}.runs (thread_id) WHERE is_active;
CREATE INDEX runs_by_age ON {schema}.runs (created_at, seq);
CREATE INDEX runs_of_user ON {schema}.runs (user_id, created_at, seq);
CREATE INDEX runs_of_thread ON {schema}.runs (thread_id, created_at, seq);

-- An entry under a lease has `until`; the lease's end is when it can be claimed again. Without one it is due at `due_at`,
-- or never while that is NULL.
CREATE TABLE {schema}.queue_entries (
    queue text COLLATE "C" NOT NULL,
    item text COLLATE "C" NOT NULL,
    due_at timestamptz,
    generation bigint NOT NULL DEFAULT 0,
    holder text,
    until timestamptz,
    attempts bigint NOT NULL DEFAULT 0,
    user_id text NOT NULL,
    label text NOT NULL,
    note text NOT NULL DEFAULT '',
    PRIMARY KEY (queue, item)
);
CREATE INDEX queue_entries_ready ON {schema}.queue_entries (queue, coalesce(until, due_at))
WHERE coalesce(until, due_at) IS NOT NULL;
