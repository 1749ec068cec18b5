"""The guide to the source names files that exist."""

import re
from pathlib import Path

import pytest

import contextwright as cw
from paths import DOCS, ROOT
from source import SOURCE

GUIDE = (DOCS / "architecture.md").read_text("utf-8")
NAMED = sorted(set(re.findall(r"`([\w<>./]+(?:/|\.py|\.toml|\.md))`", GUIDE)))


@pytest.mark.parametrize("name", NAMED)
def test_every_path_exists(name: str) -> None:
    pattern = re.sub(r"<\w+>", "*", name).rstrip("/")
    assert [*SOURCE.glob(pattern), *ROOT.glob(pattern)]


TABLES = (
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'words!_%' ESCAPE '!'"
)


def test_every_table_is_described(tmp_path: Path) -> None:
    """Except those that SQLite makes itself: counters, and the parts of the word index."""
    _, _, guide = (DOCS / "store.md").read_text("utf-8").partition("## Tables")
    described = re.findall(r"^\| (`.*?) \|", guide.partition("\n## ")[0], re.MULTILINE)
    with cw.Store(tmp_path / "chat.db", embedder=None) as store:
        tables = store.engine.read(lambda connection: connection.rows(TABLES))
    own = {name for (name,) in tables if not name.startswith(("sqlite_", "words_"))}
    assert own == set(re.findall(r"`(\w+)`", " ".join(described)))
