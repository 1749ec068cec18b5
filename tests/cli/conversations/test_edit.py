"""`cw hide`, `show-again`, `pin`, `unpin`, `rename`, `rm`, `forget-memory` and `list`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import Run


@pytest.fixture
def cw(cw: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command in this process, on a store with one conversation."""
    monkeypatch.setenv("CONTEXTWRIGHT_STORE", str(tmp_path / "chat.db"))
    for text in ("I am allergic to nuts.", "Noted.", "Lunch?"):
        assert cw("add", "lunch", text).code == 0
    return cw


def request(cw: Run, *arguments: str) -> str:
    return cw("build", "lunch", "--model", "gpt-4o", *arguments).out


def test_hide_and_show_again(cw: Run) -> None:
    assert cw("hide", "lunch", "1", "2") == (0, "", "cw: 2 messages of 'lunch' are hidden\n")
    assert "nuts" not in request(cw)
    assert "1 user (hidden):\n" in cw("read", "lunch").out
    assert "1 user (hidden): I am allergic" in cw("read", "lunch", "--hidden").out
    assert cw("show-again", "lunch", "1", "1") == (0, "", "cw: 1 message of 'lunch' is visible\n")
    assert "nuts" in request(cw)


@pytest.mark.parametrize("format", ["contextwright", "aya", "openai-chat"])
def test_an_export_names_what_is_hidden(cw: Run, format: str) -> None:
    cw("hide", "lunch", "1")
    for which in (["lunch"], []):
        outcome = cw("export", *which, "--format", format, "--changes")
        assert "nuts" not in outcome.out
        assert outcome.err.count("loss.hidden messages[0]") == 1


def test_pin_and_unpin(cw: Run, tmp_path: Path) -> None:
    recipe = tmp_path / "one.toml"
    recipe.write_text('window = {type = "keep-recent", messages = 1}')
    assert "nuts" not in request(cw, "--recipe", str(recipe))
    assert cw("pin", "lunch", "1").code == 0
    assert "nuts" in request(cw, "--recipe", str(recipe))
    out = cw("unpin", "lunch", "1", "--json").out
    assert json.loads(out) == {"conversation": "lunch", "seq": [1], "state": "not pinned"}
    assert "nuts" not in request(cw, "--recipe", str(recipe))


@pytest.mark.parametrize("command", ["hide", "show-again", "pin", "unpin"])
def test_a_message_that_does_not_exist_changes_nothing(cw: Run, command: str) -> None:
    before = cw("read", "lunch", "--json").out
    assert cw(command, "lunch", "1", "9") == (
        1,
        "",
        "cw: there is no message 9 in 'lunch' (it has 3 messages)\n",
    )
    assert cw("read", "lunch", "--json").out == before


def test_rename(cw: Run) -> None:
    cw("remember", "alice", "Likes soup", "--scope", "lunch")
    assert cw("rename", "lunch", "dinner") == (0, "", "cw: the conversation is 'dinner'\n")
    assert cw("read", "lunch").code == 1
    assert cw("read", "dinner", "--tail", "1").out == "     3 user: Lunch?\n"
    assert "alice in dinner  Likes soup" in cw("memories", "--scope", "dinner").out
    assert cw("memories", "--scope", "lunch").out == ""
    titled = cw("rename", "dinner", "--title", "Friday", "--json").out
    assert json.loads(titled)["title"] == "Friday"
    cw("add", "lunch", "Hi")
    assert cw("rename", "dinner", "lunch") == (
        1,
        "",
        "cw: conversation 'lunch' already exists (choose another id)\n",
    )
    assert cw("rename", "dinner").code == 2


def test_remove(cw: Run) -> None:
    cw("add", "dinner", "Hi")
    missing = "cw: there is no conversation 'lanch' (did you mean 'lunch'?)\n"
    assert cw("rm", "dinner", "lanch") == (1, "", missing)
    assert cw("read", "dinner").code == 0
    assert cw("rm", "dinner") == (0, "", "cw: removed 'dinner' with 1 message\n")
    assert cw("read", "dinner").code == 1


def test_a_memory_that_does_not_exist_cannot_be_forgotten(cw: Run) -> None:
    memory = cw("remember", "alice", "Likes soup").out.strip()
    code, out, err = cw("forget-memory", memory, memory[:-1])
    assert (code, out) == (1, "")
    assert err == f"cw: there is no memory '{memory[:-1]}' (did you mean '{memory}'?)\n"
    assert memory in cw("memories").out
    assert json.loads(cw("forget-memory", memory, "--json").out) == {"removed": [memory]}
    assert cw("memories").out == ""


def test_list_has_the_last_active_first(cw: Run) -> None:
    for id, time in (("old", "2001-01-01T10:00:00Z"), ("new", "2101-01-01T10:00+02:00")):
        assert cw("add", id, "Hi", "--at", time).code == 0
    cw("rename", "new", "--title", "The newest")
    lines = cw("list").out.splitlines()
    assert lines[0].split()[:4] == ["conversation", "messages", "active", "title"]
    assert [line.split()[0] for line in lines[1:]] == ["new", "lunch", "old"]
    assert lines[1].split() == ["new", "1", "2101-01-01", "08:00", "UTC", "The", "newest"]
    listed = json.loads(cw("list", "--limit", "2", "--json").out)
    assert [one["id"] for one in listed] == ["new", "lunch"]
    assert listed[0]["active"] == "2101-01-01T08:00:00Z"


def test_times_are_for_people(cw: Run) -> None:
    line = {
        "conversation": "slack",
        "messages": [{"role": "user", "parts": [], "sent_at": "1700000000.0"}],
    }
    cw("append-stream", input=json.dumps(line).encode() + b"\n")
    assert "🕐 2023-11-14 22:13 UTC\n" in cw("show", "slack").out
    assert "     1 2023-11-14 22:13 UTC user:" in cw("read", "slack").out
