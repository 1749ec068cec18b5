"""Tables of recall: vectors of memories, and how often messages of a conversation were rewritten.

A process keeps vectors and outlines in memory; `rewritten` tells it that another one changed them.
"""

from __future__ import annotations

__all__ = ["DIGESTS", "LASTS", "POSTGRES", "POSTGRES_TERMS", "SQLITE", "SQLITE_TERMS"]

# The index is made again wherever terms are computed differently: first with the stems of many
# languages, then with one of the two Chinese scripts and parts of compounds, then with more of
# Ukrainian, and with terms of words that do not show their language.
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

SQLITE = """
ALTER TABLE heads ADD COLUMN rewritten INTEGER NOT NULL DEFAULT 0;
CREATE TABLE meanings (
    memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
    embedder INTEGER NOT NULL REFERENCES embedders,
    body BLOB NOT NULL,
    PRIMARY KEY (memory, embedder)
) STRICT;
"""

POSTGRES = """
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
