"""Commands over a store: what they print, where, and with which exit code."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commands import Run
from contextwright.messages.make import user
from contextwright.store.store import Store
from samples.stores.chat import CHAT

pytestmark = pytest.mark.usefixtures("own_store")


# --- conversations -------------------------------------------------------------------------------


def test_add_list_read_show(cw: Run) -> None:
    assert cw("add", "lunch", "Suggest lunch.", "--author", "U1") == (0, "1\n", "")
    assert (
        cw("add", "lunch", "-", "--role", "assistant", input="Суп\nабо ні\n".encode()).out == "2\n"
    )
    assert cw("add", "lunch", "Again", "--key", "k").out == "3\n"
    assert cw("add", "lunch", "Again", "--key", "k").out == "3\n"
    assert cw("add", "lunch", "Theirs", "--tenant", "acme").out == "1\n"
    code, out, err = cw("list")
    assert (code, err) == (0, "")
    head, row = out.splitlines()
    assert head.split() == [
        "conversation",
        "messages",
        "active",
        "title",
        "agent",
        "forked",
        "from",
    ]
    assert row.split()[:2] == ["lunch", "3"]
    listed = json.loads(cw("list", "--tenant", "acme", "--json").out)
    assert [(one["id"], one["length"]) for one in listed] == [("lunch", 1)]
    assert cw("list", "--tenant", "nobody") == (0, "", "cw: no conversations\n")
    assert cw("read", "lunch").out == (
        "     1 user U1: Suggest lunch.\n     2 assistant: Суп\n       або ні\n     3 user: Again\n"
    )
    assert cw("read", "lunch", "--first", "2", "--last", "2").out.startswith("     2 assistant")
    (stored,) = cw("read", "lunch", "--tail", "1", "--json").out.splitlines()
    stored_at = json.loads(stored)["stored_at"]
    assert stored == (
        '{"seq":3,"key":"k","message":{"role":"user","parts":[{"type":"text","text":"Again"}]},'
        f'"stored_at":"{stored_at}"}}'
    )
    shown = cw("show", "lunch", "--ascii").out
    assert re.sub(r"\[TIME\] .*", "[TIME]", shown) == (
        "[USER] User <@U1> [Turn 0]\n[TIME]\n> Suggest lunch.\n\n"
        '[ASST] Assistant [Turn 1]\n[TIME]\n[MSG] Message:\n   "Суп\n    або ні"\n\n'
        "[USER] User [Turn 2]\n[TIME]\n> Again\n"
    )
    assert shown.endswith(f"[TIME] {stored_at}\n> Again\n")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param('{"messages": []}', 0, id="no messages"),
        pytest.param('{"messages": []}\n{"messages": []}\n', 0, id="lines without messages"),
        pytest.param("[]", 1, id="unknown"),
        pytest.param("{", 1, id="broken"),
        pytest.param("", 1, id="empty"),
        pytest.param(None, 2, id="missing"),
    ],
)
def test_an_import_of_nothing_creates_no_store(
    cw: Run, own_store: None, tmp_path: Path, text: str | None, code: int
) -> None:
    file = tmp_path / "chat.json"
    if text is not None:
        file.write_text(text)
    assert cw("import", str(file)).code == code
    assert not (tmp_path / "chat.db").exists()
    file.write_text(json.dumps(CHAT))
    found = len(CHAT["messages"])
    assert cw("import", str(file), "-f", "openai-chat").out.endswith(
        f"{found} messages of 1 conversation\n"
    )
    assert (tmp_path / "chat.db").exists()


def test_the_name_of_a_file_is_no_line_of_its_own(cw: Run, own_store: None, tmp_path: Path) -> None:
    file = tmp_path / "a\nb.json: aya: 9 messages of 1 conversation\x1b[2J\n.json"
    file.write_text(json.dumps(CHAT))
    name = str(file).replace("\n", "\\n").replace("\x1b", "\\x1b")
    found = f"{len(CHAT['messages'])} messages of 1 conversation"
    assert cw("import", str(file)).out == f"{name}: openai-chat: {found}\n"
    backup = f"{tmp_path}/b\nc.db"
    assert cw("backup", backup).out.startswith(backup.replace("\n", "\\n") + ": ")


def test_every_command_works_for_a_tenant(cw: Run, tmp_path: Path) -> None:
    """What one tenant brought in, however it came, no other is shown, however it asks."""
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(CHAT))
    acme = ("--tenant", "acme")
    assert cw("import", str(file), "--as", "lunch", *acme).code == 0
    line = {"conversation": "dinner", "key": "k", "messages": [{"role": "user", "content": "Soup"}]}
    stream = json.dumps(line).encode() + b"\n"
    assert cw("append-stream", *acme, input=stream) == (0, '{"ack":"k"}\n', "")
    memory = cw("remember", "alice", "Likes soup", *acme).out.strip()

    assert cw("dump", "dinner", *acme).out == '{"seq":1,"key":"k","role":"user","text":"Soup"}\n'
    assert len(cw("dump", "lunch", "--tenant=acme").out.splitlines()) == len(CHAT["messages"])
    assert len(cw("export", *acme).out.splitlines()) == 2
    assert json.loads(cw("export", "dinner", "-f", "openai-chat", *acme).out)["messages"]
    assert cw("search", "soup", *acme).out == "1.00  dinner 1  user: Soup\n"
    assert memory in cw("memories", *acme).out

    for other in ((), ("--tenant", "acme ")):
        for asked in (("dump", "dinner"), ("export", "dinner"), ("read", "dinner")):
            assert cw(*asked, *other) == (1, "", "cw: there is no conversation 'dinner'\n")
        assert cw("export", *other).out == cw("memories", *other).out == ""
        assert cw("search", "soup", *other) == (1, "", "cw: nothing found\n")
        assert cw("forget-memory", memory, *other).code == 1
    assert memory in cw("memories", *acme).out
    assert cw("forget-memory", memory, *acme) == (0, "", "cw: removed 1 memory\n")
    assert cw("memories", *acme).out == ""
    assert "1 to 256 bytes" in cw("dump", "dinner", "--tenant", "x" * 300).err


def test_read_shows_calls_and_what_is_hidden(cw: Run, chat: str, tmp_path: Path) -> None:
    with Store(tmp_path / "chat.db") as store:
        store.conversation(chat).delete(1)
        store.conversation(chat).fork("dinner", 2).update(title="a\nb\x1b[2J" + "x" * 99)
    assert cw("read", chat, "--last", "3").out == (
        "     1 user (deleted):\n     2 assistant: clock({})\n     3 tool: 13:05\n       EET\n"
    )
    (fork,) = (line for line in cw("list").out.splitlines() if line.startswith("dinner "))
    assert fork.endswith("lunch at 2")
    assert "\x1b" not in fork


def test_what_cannot_be_stored(cw: Run) -> None:
    code, out, err = cw("add", "lunch", "-", input=b"a\x00b")
    assert (code, out) == (2, "")
    assert err.startswith("cw: messages[0].parts[0].text, character 2: a NUL cannot be stored")
    assert cw("add", "lunch", "-", input=b"\xff").err == (
        "cw: standard input: byte 0 is not UTF-8 text\n"
    )
    code, out, err = cw("add", "lunch", "-", "--replace-invalid", input=b"a\x00b")
    assert (code, out) == (0, "1\n")
    assert err.startswith("cw: repair.text messages[0].parts[0].text")


# --- contexts ------------------------------------------------------------------------------------

MODEL = ("--model", "claude-sonnet-5-5", "--budget", "4000")


def test_a_stored_conversation_builds_as_its_file_does(cw: Run, chat: str) -> None:
    named = ("--from", "openai-chat", *MODEL)
    stored = cw("build", chat, *MODEL, "--receipt")
    filed = cw("build", "chat.json", *named, "--receipt")
    assert stored.code == 0
    assert json.loads(stored.out)["payload"] == json.loads(filed.out)["payload"]
    assert cw("explain", chat, *MODEL).out == cw("explain", "chat.json", *named).out
    cuts = ("--at", "1", "--at", "3")
    assert cw("diff", chat, *MODEL, *cuts).out == cw("diff", "chat.json", *named, *cuts).out


def test_diff_of_a_fork_and_its_parent(cw: Run, chat: str, tmp_path: Path) -> None:
    with Store(tmp_path / "chat.db") as store:
        store.conversation(chat).fork("dinner", 3).add(user("Hm?"))
    code, out, _ = cw("diff", chat, "dinner", *MODEL)
    assert code == 0
    assert out.startswith("before")


WRONG = {
    "standard input from a store": (
        ("explain", "-", "--store", "chat.db", *MODEL),
        2,
        "cw: standard input is not a stored conversation (name its id)",
    ),
    "lines of a store": (
        ("build", "lunch", "--jsonl", "--tenant", "acme", *MODEL),
        2,
        "cw: --jsonl reads a file (leave out --store, --tenant and --at)",
    ),
    "a file and a store": (
        ("build", "chat.json", "--from", "openai-chat", "--store", "x.db", *MODEL),
        2,
        "cw: --from reads a file, --store a stored conversation "
        "(leave out --from, or --store and --tenant)",
    ),
    "an unknown conversation": (
        ("build", "lanch", *MODEL),
        1,
        "cw: there is no file 'lanch', and there is no conversation 'lanch' "
        "(did you mean 'lunch'?)",
    ),
    "a folder": (
        ("show", "/"),
        1,
        "cw: '/' is a folder, and there is no conversation '/' (cw import stores what it holds)",
    ),
    "an unknown conversation to read": (
        ("read", "nobody"),
        1,
        "cw: there is no conversation 'nobody'",
    ),
    "of another tenant": (
        ("show", "lunch", "--tenant", "acme"),
        1,
        "cw: there is no conversation 'lunch'",
    ),
    "a message that is not there": (
        ("diff", "lunch", *MODEL, "--at", "1", "--at", "99"),
        1,
        "cw: there is no message 99 in 'lunch' (it has 4 messages)",
    ),
    "one moment only": (
        ("diff", "lunch", *MODEL),
        2,
        "cw: there is no second point to compare with (add --at N, or name two conversations)",
    ),
    "numbers in the wrong option": (
        ("diff", "lunch", *MODEL, "--from", "40"),
        2,
        "cw: --from is the format of a file (--at 40 --at N)",
    ),
    "two ends": (
        ("read", "lunch", "--tail", "2", "--first", "1"),
        2,
        "cw: --tail counts from the end (leave out --first and --last)",
    ),
    "ends the wrong way round": (
        ("read", "lunch", "--first", "3", "--last", "2"),
        2,
        "cw: --last 2 is before --first 3",
    ),
    "no store": (
        ("list", "--store", "none.db"),
        1,
        "cw: there is no store at 'none.db' (cw add creates one)",
    ),
    "no store to look at": (
        ("doctor", "--store", "none.db"),
        1,
        "cw: there is no store at 'none.db' (cw add creates one)",
    ),
    "a message without words": (("add", "lunch", ""), 2, "cw: the message is empty"),
    "a text that becomes none": (("edit", "lunch", "1", " "), 2, "cw: the new text is empty"),
    "a memory without words": (("remember", "max", ""), 2, "cw: the memory is empty"),
    "a store onto itself": (
        ("copy", "chat.db", "./chat.db"),
        2,
        "cw: source and target are the same store",
    ),
    "a backup over a file": (
        ("backup", "chat.json"),
        2,
        "cw: 'chat.json' already exists (name a new file)",
    ),
    "a backup in a file": (
        ("backup", "chat.json/new.db"),
        1,
        "cw: cannot write 'chat.json/new.db' (does the folder exist, and may you write there?)",
    ),
    "a backup of Postgres": (
        ("backup", "new.db", "--store", "postgresql://u:secret@h/d"),
        2,
        "cw: cw backup copies SQLite files "
        "(pg_dump -n contextwright -Fc -f new.db URL, or cw copy URL new.db)",
    ),
}


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG.values(), ids=WRONG)
def test_wrong_calls(
    cw: Run, chat: str, arguments: tuple[str, ...], code: int, message: str
) -> None:
    assert cw(*arguments) == (code, "", f"{message}\n")
    assert not Path("none.db").exists()


@pytest.mark.parametrize("command", ["add", "read", "doctor", "backup", "copy", "build", "diff"])
def test_help_teaches_with_examples(cw: Run, command: str) -> None:
    code, out, _ = cw(command, "--help")
    assert code == 0
    assert f"\n  cw {command} " in out


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
