-- Long-term memory. Whoever changes a user's entries holds the lock on his row first, so that his sketches are numbered in the order
-- in which they are committed.
CREATE TABLE {schema}.memory_user (
    user_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id text NOT NULL UNIQUE,
    entries bigint NOT NULL DEFAULT 0,
    terms bigint NOT NULL DEFAULT 0,
    removals bigint NOT NULL DEFAULT 0,
    sketches bigint NOT NULL DEFAULT 0
);

CREATE TABLE {schema}.memory (
    memory_no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    memory_id text NOT NULL UNIQUE,
    user_no bigint NOT NULL REFERENCES {schema}.memory_user (user_no) ON DELETE CASCADE,
    thread_id text,
    run_id text,
    kind text NOT NULL,
    text text NOT NULL,
    title text NOT NULL,
    source text NOT NULL,
    subtasks text[] NOT NULL,
    origin_thread text,
    origin_run text,
    origin_position bigint,
    created_at timestamptz NOT NULL,
    valid_from timestamptz NOT NULL,
    valid_to timestamptz,
    expires_at timestamptz,
    superseded_by text,
    archived_at timestamptz,
    digest text NOT NULL,
    terms bigint NOT NULL,
    words tsvector NOT NULL
);

CREATE UNIQUE INDEX memory_that_holds ON {schema}.memory (user_no, digest) WHERE valid_to IS NULL AND archived_at IS NULL;
CREATE INDEX memory_by_age ON {schema}.memory (user_no, created_at DESC, memory_id DESC);
CREATE INDEX memory_that_expires ON {schema}.memory (expires_at) WHERE expires_at IS NOT NULL;
-- Each term stands behind the number of its user, so that nobody's words are counted with another's.
CREATE INDEX memory_words ON {schema}.memory USING gin (words);

-- An empty vector says that the embedder of this space has none for the text.
CREATE TABLE {schema}.memory_vector (
    memory_no bigint NOT NULL REFERENCES {schema}.memory (memory_no) ON DELETE CASCADE,
    space text NOT NULL,
    vector bytea NOT NULL,
    PRIMARY KEY (memory_no, space)
);

-- The signs of a vector's components, in the order in which they came.
CREATE TABLE {schema}.memory_sketch (
    user_no bigint NOT NULL,
    space text NOT NULL,
    sketch_no bigint NOT NULL,
    memory_no bigint NOT NULL REFERENCES {schema}.memory (memory_no) ON DELETE CASCADE,
    sketch bytea NOT NULL,
    PRIMARY KEY (user_no, space, sketch_no),
    UNIQUE (memory_no, space)
);
