"""The tables of conversations: messages, the turns they came in, and their marks.

Everything of a conversation refers to `heads`, whose row every writer locks anyway, and has the
conversation first in its key, so that tables can be partitioned by conversation. Names are
separate.
"""

from __future__ import annotations

__all__ = [
    "POSTGRES",
    "POSTGRES_ANSWERS",
    "POSTGRES_DIGESTS",
    "POSTGRES_LENGTHS",
    "POSTGRES_TIMES",
    "POSTGRES_VERSIONS",
    "SQLITE",
    "SQLITE_ANSWERS",
    "SQLITE_DIGESTS",
    "SQLITE_LENGTHS",
    "SQLITE_TIMES",
    "SQLITE_VERSIONS",
]

SQLITE = """
CREATE TABLE conversations (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    title TEXT,
    agent TEXT,
    settings TEXT NOT NULL,
    parent INTEGER REFERENCES conversations,
    fork_at INTEGER,
    created TEXT NOT NULL,
    UNIQUE (tenant, id)
) STRICT;
CREATE INDEX conversations_tenant ON conversations (tenant, number);
CREATE INDEX conversations_parent ON conversations (parent) WHERE parent IS NOT NULL;
CREATE TABLE heads (
    conversation INTEGER PRIMARY KEY REFERENCES conversations ON DELETE CASCADE,
    last INTEGER NOT NULL,
    marked INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE turns (
    conversation INTEGER NOT NULL REFERENCES heads ON DELETE CASCADE,
    first INTEGER NOT NULL,
    count INTEGER NOT NULL,
    key TEXT,
    PRIMARY KEY (conversation, first)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX turns_key ON turns (conversation, key) WHERE key IS NOT NULL;
CREATE TABLE messages (
    conversation INTEGER NOT NULL REFERENCES heads ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    joins INTEGER,
    kind INTEGER,
    body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX messages_place ON messages (conversation, seq);
CREATE INDEX messages_joins ON messages (conversation, joins) WHERE joins IS NOT NULL;
CREATE INDEX messages_kind ON messages (conversation, kind, seq) WHERE kind IS NOT NULL;
CREATE TABLE marks (
    conversation INTEGER NOT NULL REFERENCES heads ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    visibility TEXT,
    pinned INTEGER,
    PRIMARY KEY (conversation, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX marks_pinned ON marks (conversation, seq) WHERE pinned = 1;
CREATE INDEX marks_hidden ON marks (conversation, seq) WHERE visibility <> 'public';
CREATE TABLE open_calls (
    conversation INTEGER NOT NULL REFERENCES heads ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    part INTEGER NOT NULL,
    id TEXT,
    name TEXT NOT NULL,
    PRIMARY KEY (conversation, seq, part)
) STRICT, WITHOUT ROWID;
CREATE INDEX open_calls_id ON open_calls (conversation, id) WHERE id IS NOT NULL;
CREATE INDEX open_calls_name ON open_calls (conversation, name, seq, part);
CREATE TABLE meters (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE totals (
    conversation INTEGER NOT NULL REFERENCES heads ON DELETE CASCADE,
    meter INTEGER NOT NULL REFERENCES meters,
    seq INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    results INTEGER NOT NULL,
    media INTEGER NOT NULL,
    together INTEGER NOT NULL,
    PRIMARY KEY (conversation, meter, seq)
) STRICT, WITHOUT ROWID;
"""

POSTGRES = """
CREATE TABLE conversations (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    title text,
    agent text,
    settings text NOT NULL,
    parent bigint REFERENCES conversations,
    fork_at bigint,
    created text NOT NULL,
    UNIQUE (tenant, id)
);
CREATE INDEX conversations_tenant ON conversations (tenant, number);
CREATE INDEX conversations_parent ON conversations (parent) WHERE parent IS NOT NULL;
CREATE TABLE heads (
    conversation bigint PRIMARY KEY REFERENCES conversations ON DELETE CASCADE,
    last bigint NOT NULL,
    marked bigint NOT NULL DEFAULT 0
);
CREATE TABLE turns (
    conversation bigint NOT NULL REFERENCES heads ON DELETE CASCADE,
    first bigint NOT NULL,
    count bigint NOT NULL,
    key text COLLATE "C",
    PRIMARY KEY (conversation, first)
);
CREATE UNIQUE INDEX turns_key ON turns (conversation, key) WHERE key IS NOT NULL;
CREATE TABLE messages (
    conversation bigint NOT NULL REFERENCES heads ON DELETE CASCADE,
    seq bigint NOT NULL,
    joins bigint,
    kind integer,
    body text NOT NULL,
    PRIMARY KEY (conversation, seq)
);
CREATE INDEX messages_joins ON messages (conversation, joins) WHERE joins IS NOT NULL;
CREATE INDEX messages_kind ON messages (conversation, kind, seq) WHERE kind IS NOT NULL;
CREATE TABLE marks (
    conversation bigint NOT NULL REFERENCES heads ON DELETE CASCADE,
    seq bigint NOT NULL,
    visibility text,
    pinned integer,
    PRIMARY KEY (conversation, seq)
);
CREATE INDEX marks_pinned ON marks (conversation, seq) WHERE pinned = 1;
CREATE INDEX marks_hidden ON marks (conversation, seq) WHERE visibility <> 'public';
CREATE TABLE open_calls (
    conversation bigint NOT NULL REFERENCES heads ON DELETE CASCADE,
    seq bigint NOT NULL,
    part bigint NOT NULL,
    id text COLLATE "C",
    name text COLLATE "C" NOT NULL,
    PRIMARY KEY (conversation, seq, part)
);
CREATE INDEX open_calls_id ON open_calls (conversation, id) WHERE id IS NOT NULL;
CREATE INDEX open_calls_name ON open_calls (conversation, name, seq, part);
CREATE TABLE meters (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE
);
CREATE TABLE totals (
    conversation bigint NOT NULL REFERENCES heads ON DELETE CASCADE,
    meter bigint NOT NULL REFERENCES meters,
    seq bigint NOT NULL,
    cost bigint NOT NULL,
    results bigint NOT NULL,
    media bigint NOT NULL,
    together bigint NOT NULL,
    PRIMARY KEY (conversation, meter, seq)
);
"""

# One length of the conversation up to each message replaces token totals by meter.
SQLITE_LENGTHS = """
ALTER TABLE messages ADD COLUMN length INTEGER NOT NULL DEFAULT 0;
ALTER TABLE heads ADD COLUMN length INTEGER NOT NULL DEFAULT 0;
DROP TABLE totals;
DROP TABLE meters;
"""

POSTGRES_LENGTHS = """
ALTER TABLE messages ADD COLUMN length bigint NOT NULL DEFAULT 0;
ALTER TABLE heads ADD COLUMN length bigint NOT NULL DEFAULT 0;
DROP TABLE totals;
DROP TABLE meters;
"""

# A digest of each body detects a flipped bit on disk, even if the text can still be read.
SQLITE_DIGESTS = "ALTER TABLE messages ADD COLUMN digest INTEGER NOT NULL DEFAULT 0;"
POSTGRES_DIGESTS = "ALTER TABLE messages ADD COLUMN digest bigint NOT NULL DEFAULT 0;"

# When a turn was stored; NULL for turns of imports and of earlier versions.
SQLITE_TIMES = "ALTER TABLE turns ADD COLUMN stored TEXT;"
POSTGRES_TIMES = "ALTER TABLE turns ADD COLUMN stored text;"

# `origin` is the id by which replies name a message that is gone, to remove their quotes of it.
SQLITE_VERSIONS = """
ALTER TABLE marks ADD COLUMN origin TEXT;
CREATE INDEX marks_origin ON marks (conversation, origin) WHERE origin IS NOT NULL;
CREATE TABLE versions (
    conversation INTEGER NOT NULL REFERENCES heads ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    number INTEGER NOT NULL,
    replaced TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (conversation, seq, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE backups (
    file TEXT PRIMARY KEY,
    made TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""

POSTGRES_VERSIONS = """
ALTER TABLE marks ADD COLUMN origin text COLLATE "C";
CREATE INDEX marks_origin ON marks (conversation, origin) WHERE origin IS NOT NULL;
CREATE TABLE versions (
    conversation bigint NOT NULL REFERENCES heads ON DELETE CASCADE,
    seq bigint NOT NULL,
    number bigint NOT NULL,
    replaced text NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (conversation, seq, number)
);
CREATE TABLE backups (
    file text COLLATE "C" PRIMARY KEY,
    made text NOT NULL
);
"""

# The messages that one answers, where `joins` does not hold: several, or others since one changed.
SQLITE_ANSWERS = """
CREATE TABLE answers (
    conversation INTEGER NOT NULL REFERENCES heads ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    joins INTEGER NOT NULL,
    PRIMARY KEY (conversation, seq, joins)
) STRICT, WITHOUT ROWID;
CREATE INDEX answers_joins ON answers (conversation, joins);
"""

POSTGRES_ANSWERS = """
CREATE TABLE answers (
    conversation bigint NOT NULL REFERENCES heads ON DELETE CASCADE,
    seq bigint NOT NULL,
    joins bigint NOT NULL,
    PRIMARY KEY (conversation, seq, joins)
);
CREATE INDEX answers_joins ON answers (conversation, joins);
"""
