-- Long-term memory. A user's counters are changed in the transaction that changes his entries.
CREATE TABLE memory_user (
    user_no INTEGER PRIMARY KEY,
    user_id TEXT NOT NULL UNIQUE,
    entries INTEGER NOT NULL DEFAULT 0,
    terms INTEGER NOT NULL DEFAULT 0,
    removals INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE memory (
    memory_no INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id TEXT NOT NULL UNIQUE,
    user_no INTEGER NOT NULL REFERENCES memory_user (user_no),
    thread_id TEXT,
    run_id TEXT,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    title TEXT NOT NULL,
    source TEXT NOT NULL,
    subtasks TEXT NOT NULL,
    origin_thread TEXT,
    origin_run TEXT,
    origin_position INTEGER,
    created_at INTEGER NOT NULL,
    valid_from INTEGER NOT NULL,
    valid_to INTEGER,
    expires_at INTEGER,
    superseded_by TEXT,
    archived_at INTEGER,
    digest TEXT NOT NULL,
    terms INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX memory_that_holds ON memory (user_no, digest) WHERE valid_to IS NULL AND archived_at IS NULL;
CREATE INDEX memory_by_age ON memory (user_no, created_at);
CREATE INDEX memory_that_expires ON memory (expires_at) WHERE expires_at IS NOT NULL;

-- Each term stands behind the number of its user, so that nobody's words are counted with another's.
CREATE VIRTUAL TABLE memory_words USING fts5 (terms, tokenize = 'unicode61 remove_diacritics 0');

-- An empty vector says that the embedder of this space has none for the text.
CREATE TABLE memory_vector (
    memory_no INTEGER NOT NULL REFERENCES memory (memory_no),
    space TEXT NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (memory_no, space)
) STRICT, WITHOUT ROWID;

-- The signs of a vector's components, in the order in which they came.
CREATE TABLE memory_sketch (
    sketch_no INTEGER PRIMARY KEY AUTOINCREMENT,
    user_no INTEGER NOT NULL,
    space TEXT NOT NULL,
    memory_no INTEGER NOT NULL,
    sketch BLOB NOT NULL,
    UNIQUE (memory_no, space)
) STRICT;

CREATE INDEX memory_sketch_of_user ON memory_sketch (user_no, space, sketch_no);
