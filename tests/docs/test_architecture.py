"""The guide to the source names files that exist."""

import re

import pytest

from paths import DOCS, ROOT
from source import SOURCE

GUIDE = (DOCS / "architecture.md").read_text("utf-8")
NAMED = sorted(set(re.findall(r"`([\w<>./]+(?:/|\.py|\.toml|\.md))`", GUIDE)))


@pytest.mark.parametrize("name", NAMED)
def test_every_path_exists(name: str) -> None:
    pattern = re.sub(r"<\w+>", "*", name).rstrip("/")
    assert [*SOURCE.glob(pattern), *ROOT.glob(pattern)]
