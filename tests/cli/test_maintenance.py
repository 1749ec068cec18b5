"""`cw doctor`, `backup` and `copy`: what they print, and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import Run
from contextwright.messages.make import tool_result, user
from contextwright.store.store import Store

pytestmark = pytest.mark.usefixtures("own_store")


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
        f"repaired  {wrong}; the last number was set to 4",
        "1 conversation, 4 messages: 0 problems",
    ]
    assert cw("doctor", "--store", saved).code == 1
    assert json.loads(cw("doctor", "--store", saved, "--json").out)["problems"] == [
        {
            "code": "head",
            "where": "conversation 'lunch'",
            "problem": "its head says 3, the last message is 4",
            "cure": "the last number was set to 4",
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
