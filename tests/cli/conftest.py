"""Fixtures for commands that work on a store."""

import json
from pathlib import Path

import pytest

from commands import Run
from samples.stores.chat import CHAT


@pytest.fixture
def own_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let commands work on a new store, in its folder."""
    monkeypatch.setenv("CONTEXTWRIGHT_STORE", str(tmp_path / "chat.db"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def chat(own_store: None, cw: Run, tmp_path: Path) -> str:
    """A conversation that was imported from a file."""
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(CHAT))
    assert cw("import", str(file), "--as", "lunch").code == 0
    return "lunch"
