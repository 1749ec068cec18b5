"""`cw doctor`, `backup`, `copy` and `summarise`: what they print, and exit codes."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commands import Run
from contextwright.messages.make import tool_result, user
from contextwright.store.store import Store
from samples.stores.chat import CHAT


@pytest.fixture
def cw(cw: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command in this process, on a store of its own."""
    monkeypatch.setenv("CONTEXTWRIGHT_STORE", str(tmp_path / "chat.db"))
    monkeypatch.chdir(tmp_path)
    return cw


@pytest.fixture
def chat(cw: Run, tmp_path: Path) -> str:
    """A conversation that came from a file."""
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(CHAT))
    assert cw("import", str(file), "--as", "lunch").code == 0
    return "lunch"


# --- whole stores --------------------------------------------------------------------------------


def test_doctor_says_and_mends(cw: Run, chat: str, tmp_path: Path) -> None:
    code, out, err = cw("doctor")
    assert (code, err) == (0, "")
    assert out.endswith("1 conversation, 4 messages: 0 problems\n")
    with Store(tmp_path / "chat.db") as store:
        store.engine.write_alone(lambda one: one.run("UPDATE heads SET last = 3"))
    wrong = "head conversation 'lunch': its head says 3, the last message is 4"
    code, out, _ = cw("doctor")
    assert code == 1
    assert out.splitlines()[1:] == [
        f"problem   {wrong} (--repair repairs it)",
        "1 conversation, 4 messages: 1 problem",
    ]
    saved = f"{tmp_path / 'chat.db'}.repair-1.backup"
    code, out, _ = cw("doctor", "--repair")
    assert code == 0
    assert out.splitlines()[1:] == [
        f"backup    {saved}",
        f"repaired  {wrong}; the last number is 4 again",
        "1 conversation, 4 messages: 0 problems",
    ]
    assert cw("doctor", "--store", saved).code == 1
    assert json.loads(cw("doctor", "--store", saved, "--json").out)["problems"] == [
        {
            "code": "head",
            "where": "conversation 'lunch'",
            "problem": "its head says 3, the last message is 4",
            "cure": "the last number is 4 again",
        }
    ]


def test_a_file_too_damaged_to_open(cw: Run, chat: str, tmp_path: Path) -> None:
    file = tmp_path / "chat.db"
    data = bytearray(file.read_bytes())
    data[100:8_192] = b"\xff" * 8_092
    file.write_bytes(data)
    code, out, err = cw("doctor")
    assert (code, err) == (1, "")
    assert "problem   database" in out
    assert "is damaged; restore a backup" in out


def test_doctor_on_postgres_wants_a_backup_of_its_own(cw: Run, postgres: str) -> None:
    with Store(postgres) as store:
        store.conversation("a").add(user("Hello"))
        store.engine.write_alone(lambda one: one.run("UPDATE heads SET last = 3"))
    code, out, err = cw("doctor", "--store", postgres, "--repair")
    assert (code, out) == (2, "")
    assert err == (
        "cw: a Postgres database cannot be backed up here "
        "(run pg_dump, then cw doctor --repair --no-backup)\n"
    )
    assert cw("doctor", "--store", postgres, "--repair", "--no-backup").code == 0


def test_backup_and_copy(cw: Run, chat: str, postgres: str, tmp_path: Path) -> None:
    code, out, err = cw("backup", "saved.db")
    assert (code, err) == (0, "")
    assert out.startswith("saved.db: ")
    code, out, err = cw("copy", "saved.db", postgres)
    assert (code, out) == (0, "4 messages of 1 conversation\n")
    assert err.startswith("cw: both stores are equal, digest ")
    with Store(postgres) as store:
        store.conversation(chat).add(tool_result("c9", "late"))
    code, out, _ = cw("copy", postgres, "saved.db")
    assert (code, out) == (0, "1 message of 1 conversation (4 already stored)\n")
    assert json.loads(cw("copy", postgres, "saved.db", "--json").out)["known"] == 5
    code, out, err = cw("copy", "chat.db", "saved.db")
    assert (code, out) == (1, "")
    assert "of the target has 5 messages, the source 4" in err


RECIPE = """
window = {type = "keep-recent", messages = 2}
summary = {tokens = 200%s}
"""


def test_summarise(cw: Run, tmp_path: Path) -> None:
    (tmp_path / "digest.toml").write_text(RECIPE % "")
    asked = ("--model", "gpt-4o", "--recipe", "digest.toml")
    for text in ("I am allergic to hazelnuts.", "My train leaves at 7:40.", "Hm.", "And now?"):
        cw("add", "lunch", text)
    told = (
        "[Digest of messages 1–2: excerpts picked by a program, the rest is left out]\n"
        "> 1 user: I am allergic to hazelnuts.\n"
        "> 2 user: My train leaves at 7:40.\n"
    )
    assert cw("summarise", "lunch", *asked) == (0, told, "")
    built = json.loads(cw("build", "lunch", *asked).out)
    assert built["messages"][0]["content"] + "\n" == told
    assert "digest 200\n" + told in cw("summarise", "lunch", *asked, "--show").out
    (stored,) = json.loads(cw("summarise", "lunch", *asked, "--show", "--json").out)
    assert stored["summary"]["last"] == 2
    said = "cw: removed the summary of messages 1–2\n"
    assert cw("summarise", "lunch", *asked, "--undo") == (0, "", said)
    assert cw("summarise", "lunch", *asked, "--undo").code == 1
    assert cw("summarise", "lunch", *asked, "--show") == (0, "", "cw: no summaries\n")


def test_summarise_with_a_program(cw: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(RECIPE % ', model = "mine"')
    asked = ("lunch", "--model", "gpt-4o", "--recipe", "mine.toml")
    for text in ("I am allergic to hazelnuts.", "Hm.", "And now?"):
        cw("add", "lunch", text)
    assert cw("summarise", *asked).err == (
        "cw: no summary of messages 1 to 1: no summariser is set: SummaryPolicy(summariser=…)\n"
    )
    writer = f"{sys.executable} -c 'print(\"Nuts:\", len(input()))'"
    told = "[Summary of message 1, written by mine: nobody here said these words]\n> Nuts: 84\n"
    assert cw("summarise", *asked, "--summariser", writer) == (0, told, "")
    assert json.loads(cw("build", *asked).out)["messages"][0]["content"] + "\n" == told
    cw("summarise", *asked, "--undo")
    failed = cw("summarise", *asked, "--summariser", f"{sys.executable} -c 'exit(3)'")
    assert failed.code == 1
    assert "exited with 3" in failed.err
    assert cw("summarise", *asked, "--summariser", "'open").code == 2
    assert cw("summarise", *asked, "--summariser", "").code == 2
    assert cw("summarise", *asked, "--undo", "--show").code == 2


def test_nothing_to_summarise(cw: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("summary = true")
    cw("add", "lunch", "Hello.")
    asked = ("summarise", "lunch", "--model", "gpt-4o", "--recipe")
    assert cw(*asked, "mine.toml") == (0, "", "cw: nothing is left out\n")
    assert cw(*asked, "mine.toml", "--json") == (0, "null\n", "cw: nothing is left out\n")
    failed = cw(*asked, "default")
    assert failed.code == 2
    assert "summary = true" in failed.err


def test_what_is_added_has_the_time_it_was_stored_at_or_sent_at(cw: Run) -> None:
    """In exports that need a time; one that is not known is never a neighbour's."""
    noon = "2023-04-04T12:00:00Z"
    before = datetime.now(UTC).replace(microsecond=0)
    cw("add", "lunch", "First", "--at", noon)
    cw("add", "lunch", "Second")
    entries = json.loads(cw("export", "lunch", "--format", "aya").out)
    assert [entry["turn"] for entry in entries] == [0, 0]
    assert entries[0]["timestamp"] == noon
    assert before <= datetime.fromisoformat(entries[1]["timestamp"]) <= datetime.now(UTC)
    session = json.loads(cw("export", "lunch", "--format", "port42").out)
    assert [one["timestamp"] for one in session["messages"]] == [
        entry["timestamp"] for entry in entries
    ]
    plain = json.loads(cw("export", "lunch").out)
    assert "sent_at" not in plain["messages"][1]
