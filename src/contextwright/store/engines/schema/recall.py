"""The tables of recall: memories, the words and vectors of messages, episodes, summaries.

A process keeps vectors and outlines in memory; `rewritten` tells it that another one changed them.
"""

from __future__ import annotations

__all__ = [
    "DIGESTS",
    "LASTS",
    "POSTGRES_MEANINGS",
    "POSTGRES_MEMORIES",
    "POSTGRES_TERMS",
    "POSTGRES_VECTORS",
    "SQLITE_MEANINGS",
    "SQLITE_MEMORIES",
    "SQLITE_TERMS",
    "SQLITE_VECTORS",
]

# Terms are stored without their text, which is in `messages`; `indexed` says how far they go.
SQLITE_MEMORIES = """
CREATE TABLE memories (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    about TEXT,
    scope TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (tenant, id)
) STRICT;
CREATE INDEX memories_tenant ON memories (tenant, number);
CREATE INDEX memories_about ON memories (tenant, kind, about, number);
CREATE INDEX memories_scope ON memories (tenant, scope, kind, number);
CREATE VIRTUAL TABLE words USING fts5 (
    terms, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '_'"
);
CREATE TABLE indexed (
    conversation INTEGER PRIMARY KEY REFERENCES heads ON DELETE CASCADE,
    last INTEGER NOT NULL
) STRICT;
"""

POSTGRES_MEMORIES = """
CREATE TABLE memories (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    about text COLLATE "C",
    scope text COLLATE "C" NOT NULL,
    body text NOT NULL,
    UNIQUE (tenant, id)
);
CREATE INDEX memories_tenant ON memories (tenant, number);
CREATE INDEX memories_about ON memories (tenant, kind, about, number);
CREATE INDEX memories_scope ON memories (tenant, scope, kind, number);
CREATE TABLE words (
    conversation bigint NOT NULL REFERENCES heads ON DELETE CASCADE,
    seq bigint NOT NULL,
    terms text[] COLLATE "C" NOT NULL,
    PRIMARY KEY (conversation, seq)
);
CREATE INDEX words_terms ON words USING gin (terms) WITH (gin_pending_list_limit = 256);
CREATE TABLE indexed (
    conversation bigint PRIMARY KEY REFERENCES heads ON DELETE CASCADE,
    last bigint NOT NULL
);
"""

# `divided` says how far a conversation is divided into episodes, and how often messages had been
# marked by then, because an episode may hold what was hidden since.
# Terms are computed differently now, so the index and its `outlines` are rebuilt.
# Vectors cannot be compressed, so Postgres does not try.
SQLITE_VECTORS = """
ALTER TABLE memories ADD COLUMN accesses INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN accessed TEXT;
INSERT INTO words (words) VALUES ('delete-all');
DELETE FROM indexed;
CREATE TABLE outlines (
    conversation INTEGER NOT NULL REFERENCES heads ON DELETE CASCADE,
    first INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (conversation, first)
) STRICT;
CREATE TABLE embedders (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    width INTEGER NOT NULL
) STRICT;
CREATE TABLE vectors (
    conversation INTEGER NOT NULL REFERENCES heads ON DELETE CASCADE,
    embedder INTEGER NOT NULL REFERENCES embedders,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (conversation, embedder, first)
) STRICT;
CREATE TABLE divided (
    conversation INTEGER PRIMARY KEY REFERENCES heads ON DELETE CASCADE,
    last INTEGER NOT NULL,
    marked INTEGER NOT NULL
) STRICT;
CREATE TABLE summaries (
    conversation INTEGER NOT NULL REFERENCES heads ON DELETE CASCADE,
    name TEXT NOT NULL,
    last INTEGER NOT NULL,
    made TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (conversation, name, last)
) STRICT, WITHOUT ROWID;
"""

POSTGRES_VECTORS = """
ALTER TABLE memories ADD COLUMN accesses bigint NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN accessed text;
CREATE TABLE divided (
    conversation bigint PRIMARY KEY REFERENCES heads ON DELETE CASCADE,
    last bigint NOT NULL,
    marked bigint NOT NULL
);
DELETE FROM words;
DELETE FROM indexed;
CREATE TABLE outlines (
    conversation bigint NOT NULL REFERENCES heads ON DELETE CASCADE,
    first bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (conversation, first)
);
CREATE TABLE embedders (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    width bigint NOT NULL
);
CREATE TABLE vectors (
    conversation bigint NOT NULL REFERENCES heads ON DELETE CASCADE,
    embedder bigint NOT NULL REFERENCES embedders,
    first bigint NOT NULL,
    last bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (conversation, embedder, first)
);
ALTER TABLE vectors ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE TABLE summaries (
    conversation bigint NOT NULL REFERENCES heads ON DELETE CASCADE,
    name text COLLATE "C" NOT NULL,
    last bigint NOT NULL,
    made text NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (conversation, name, last)
);
"""

# The index is made again wherever terms are computed differently: first with the stems of many
# languages, then with one of the two Chinese scripts and parts of compounds, then with more of
# Ukrainian, and with terms of words that do not show their language, then with Arabic verbs and a
# term of damaged messages, then with words inside identifiers and the sounds of names.
SQLITE_TERMS = """
INSERT INTO words (words) VALUES ('delete-all');
DELETE FROM outlines;
DELETE FROM indexed;
"""

POSTGRES_TERMS = """
DELETE FROM words;
DELETE FROM outlines;
DELETE FROM indexed;
"""

DIGESTS = "DELETE FROM summaries WHERE name LIKE 'digest %';"
"""Digests pick other sentences."""

SQLITE_MEANINGS = """
ALTER TABLE heads ADD COLUMN rewritten INTEGER NOT NULL DEFAULT 0;
CREATE TABLE meanings (
    memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
    embedder INTEGER NOT NULL REFERENCES embedders,
    body BLOB NOT NULL,
    PRIMARY KEY (memory, embedder)
) STRICT;
"""

POSTGRES_MEANINGS = """
ALTER TABLE heads ADD COLUMN rewritten bigint NOT NULL DEFAULT 0;
CREATE TABLE meanings (
    memory bigint NOT NULL REFERENCES memories ON DELETE CASCADE,
    embedder bigint NOT NULL REFERENCES embedders,
    body bytea NOT NULL,
    PRIMARY KEY (memory, embedder)
);
"""

LASTS = "CREATE INDEX vectors_last ON vectors (conversation, embedder, last);"
"""How far the vectors of each conversation go, without a look at the pages."""
