"""The tables, as numbered migration steps; a store is updated by the steps it lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from contextwright.errors import UnknownSchema
from contextwright.store.engines import recall_tables, request_tables
from contextwright.store.engines.base import Connection
from contextwright.store.engines.digests import fill_digests
from contextwright.store.engines.lengths import fill_lengths
from contextwright.store.engines.origins import fill_origins

__all__ = ["STEPS", "Step", "steps_after"]


class Step(Struct, frozen=True):
    """One change of the tables, for each engine; its index in the list is its number."""

    sqlite: str
    postgres: str
    fill: Callable[[Connection], None] | None = None
    """Fills new columns for existing rows."""


def steps_after(version: int, steps: Sequence[Step], where: str) -> Sequence[Step]:
    """Return the steps that a store of some version lacks.

    Raises:
        UnknownSchema: the store is newer than this release.
    """
    if not 0 <= version <= len(steps):
        raise UnknownSchema(
            f"{where} has tables of version {version}, this release knows {len(steps)}",
            hint="upgrade contextwright",
        )
    return steps[version:]


# Everything of a conversation refers to `heads`, whose row every writer locks anyway, and has the
# conversation first in its key, so that tables can be partitioned by conversation. Names are
# separate.
SQLITE_1 = """
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

POSTGRES_1 = """
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

# Terms are stored without their text, which is in `messages`; `indexed` says how far they go.
SQLITE_2 = """
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

POSTGRES_2 = """
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
SQLITE_3 = """
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

POSTGRES_3 = """
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

# One length of the conversation up to each message replaces token totals by meter.
SQLITE_4 = """
ALTER TABLE messages ADD COLUMN length INTEGER NOT NULL DEFAULT 0;
ALTER TABLE heads ADD COLUMN length INTEGER NOT NULL DEFAULT 0;
DROP TABLE totals;
DROP TABLE meters;
"""

POSTGRES_4 = """
ALTER TABLE messages ADD COLUMN length bigint NOT NULL DEFAULT 0;
ALTER TABLE heads ADD COLUMN length bigint NOT NULL DEFAULT 0;
DROP TABLE totals;
DROP TABLE meters;
"""

# A digest of each body detects a flipped bit on disk, even if the text can still be read.
SQLITE_5 = "ALTER TABLE messages ADD COLUMN digest INTEGER NOT NULL DEFAULT 0;"
POSTGRES_5 = "ALTER TABLE messages ADD COLUMN digest bigint NOT NULL DEFAULT 0;"

# When a turn was stored; NULL for turns of imports and of earlier versions.
SQLITE_6 = "ALTER TABLE turns ADD COLUMN stored TEXT;"
POSTGRES_6 = "ALTER TABLE turns ADD COLUMN stored text;"

# `origin` is the id by which replies name a message that is gone, to remove their quotes of it.
SQLITE_7 = """
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

POSTGRES_7 = """
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

STEPS: tuple[Step, ...] = (
    Step(SQLITE_1, POSTGRES_1),
    Step(SQLITE_2, POSTGRES_2),
    Step(SQLITE_3, POSTGRES_3),
    Step(SQLITE_4, POSTGRES_4, fill_lengths),
    Step(SQLITE_5, POSTGRES_5, fill_digests),
    Step(SQLITE_6, POSTGRES_6),
    Step(SQLITE_7, POSTGRES_7, fill_origins),
    Step(request_tables.SQLITE, request_tables.POSTGRES),
    Step(recall_tables.SQLITE_TERMS, recall_tables.POSTGRES_TERMS),
    Step(
        recall_tables.SQLITE_TERMS + recall_tables.DIGESTS,
        recall_tables.POSTGRES_TERMS + recall_tables.DIGESTS,
    ),
    Step(recall_tables.SQLITE, recall_tables.POSTGRES),
    Step(recall_tables.LASTS, recall_tables.LASTS),
    Step(request_tables.SQLITE_SIGNATURES, request_tables.POSTGRES_SIGNATURES),
    Step(
        recall_tables.SQLITE_TERMS + recall_tables.DIGESTS,
        recall_tables.POSTGRES_TERMS + recall_tables.DIGESTS,
    ),
    Step(request_tables.SQLITE_ANSWERS, request_tables.POSTGRES_ANSWERS),
)
