"""The tables of recorded requests.

A body is kept as its difference to that of an earlier request, the `base`: `head` bytes at its
beginning and `tail` bytes at its end are the same, the rest is compressed. `places` are digests of
all that was said up to a message, by which a client's history is found again. `signatures` has the
answers that a provider signed, by digests of their place and of their first call; an answer that is
expected has no body yet.
"""

from __future__ import annotations

__all__ = [
    "POSTGRES",
    "POSTGRES_ANSWERS",
    "POSTGRES_SIGNATURES",
    "SQLITE",
    "SQLITE_ANSWERS",
    "SQLITE_SIGNATURES",
]

SQLITE = """
CREATE TABLE requests (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    conversation INTEGER REFERENCES heads ON DELETE CASCADE,
    session TEXT NOT NULL,
    state TEXT NOT NULL,
    process TEXT NOT NULL,
    started TEXT NOT NULL,
    record TEXT NOT NULL
) STRICT;
CREATE INDEX requests_tenant ON requests (tenant, number);
CREATE INDEX requests_conversation ON requests (conversation, number);
CREATE INDEX requests_session ON requests (tenant, session, number) WHERE session <> '';
CREATE INDEX requests_started ON requests (started);
CREATE INDEX requests_open ON requests (process) WHERE state = 'open';
CREATE TABLE bodies (
    request INTEGER NOT NULL REFERENCES requests ON DELETE CASCADE,
    kind TEXT NOT NULL,
    base INTEGER,
    depth INTEGER NOT NULL,
    head INTEGER NOT NULL,
    tail INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX bodies_request ON bodies (request, kind);
CREATE INDEX bodies_base ON bodies (base) WHERE base IS NOT NULL;
CREATE TABLE places (
    conversation INTEGER NOT NULL REFERENCES heads ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (conversation, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX places_digest ON places (digest);
"""

POSTGRES = """
CREATE TABLE requests (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    conversation bigint REFERENCES heads ON DELETE CASCADE,
    session text COLLATE "C" NOT NULL,
    state text NOT NULL,
    process text NOT NULL,
    started text COLLATE "C" NOT NULL,
    record text NOT NULL
);
CREATE INDEX requests_tenant ON requests (tenant, number);
CREATE INDEX requests_conversation ON requests (conversation, number);
CREATE INDEX requests_session ON requests (tenant, session, number) WHERE session <> '';
CREATE INDEX requests_started ON requests (started);
CREATE INDEX requests_open ON requests (process) WHERE state = 'open';
CREATE TABLE bodies (
    request bigint NOT NULL REFERENCES requests ON DELETE CASCADE,
    kind text NOT NULL,
    base bigint,
    depth bigint NOT NULL,
    head bigint NOT NULL,
    tail bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (request, kind)
);
ALTER TABLE bodies ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX bodies_base ON bodies (base) WHERE base IS NOT NULL;
CREATE TABLE places (
    conversation bigint NOT NULL REFERENCES heads ON DELETE CASCADE,
    seq bigint NOT NULL,
    digest text COLLATE "C" NOT NULL,
    PRIMARY KEY (conversation, seq)
);
CREATE INDEX places_digest ON places (digest);
"""

SQLITE_SIGNATURES = """
CREATE TABLE signatures (
    request INTEGER PRIMARY KEY REFERENCES requests ON DELETE CASCADE,
    place TEXT NOT NULL,
    first_call TEXT,
    body BLOB
) STRICT;
CREATE INDEX signatures_place ON signatures (place);
CREATE INDEX signatures_first_call ON signatures (first_call) WHERE first_call IS NOT NULL;
"""

POSTGRES_SIGNATURES = """
CREATE TABLE signatures (
    request bigint PRIMARY KEY REFERENCES requests ON DELETE CASCADE,
    place text COLLATE "C" NOT NULL,
    first_call text COLLATE "C",
    body bytea
);
ALTER TABLE signatures ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX signatures_place ON signatures (place);
CREATE INDEX signatures_first_call ON signatures (first_call) WHERE first_call IS NOT NULL;
"""

# `answer` is a digest of the client and of the id by which it may go on from the answer.
SQLITE_ANSWERS = """
ALTER TABLE requests ADD COLUMN answer TEXT;
CREATE INDEX requests_answer ON requests (answer) WHERE answer IS NOT NULL;
"""

POSTGRES_ANSWERS = """
ALTER TABLE requests ADD COLUMN answer text COLLATE "C";
CREATE INDEX requests_answer ON requests (answer) WHERE answer IS NOT NULL;
"""
