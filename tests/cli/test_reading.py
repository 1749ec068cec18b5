"""Commands that need a store do not make one, neither of nothing nor of an empty file."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Run, only_line
from contextwright.cli import completion
from contextwright.cli.commands import GROUPS

STORES = {"add", "append-stream", "chat", "import", "mcp", "record", "remember", "serve"}
READS_FILES = {"batch", "check", "convert", "count", "demo", "fix", "simulate"}
OTHERS = STORES | READS_FILES | set(GROUPS["Reference"])
CALLS = """
backup new.db
build lunch --model gpt-4o
copy chat.db new.db
diff 1
diff lunch --model gpt-4o --at 1
doctor
doctor --repair
dump lunch
dump lunch --tenant=a
edit lunch 1 Soup
episodes lunch
erase --person Max
explain lunch --model gpt-4o
export lunch
forget-memory 1
hide lunch 1
inspect
list
memories
memories Max
pin lunch 1
read lunch
recall soup
recall soup --conversation lunch
reindex
rename lunch dinner
replay 1 --to gemini
requests
rm lunch
search soup
show lunch
show-again lunch 1
show-request 1
summarise lunch --model gpt-4o
tenants
tune --store chat.db --model gpt-4o --budget 900
unpin lunch 1
""".strip().splitlines()


def test_every_other_command_is_here() -> None:
    names = {name for group in GROUPS.values() for name in group}
    assert {call.split()[0] for call in CALLS} == names - OTHERS


@pytest.mark.parametrize("exists", [False, True], ids=["missing", "empty"])
@pytest.mark.parametrize("call", CALLS)
def test_no_store_is_made(
    call: str, exists: bool, cw: Run, tmp_path: Path, own_store: None
) -> None:
    file = tmp_path / "chat.db"
    if exists:
        file.touch()
    code, out, err = cw(*call.split())
    assert (code, out) == (1, "")
    assert "no store at" in only_line(err)
    assert only_line(err).endswith("(cw add creates one)")
    assert [(each.name, each.stat().st_size) for each in tmp_path.iterdir()] == (
        [("chat.db", 0)] if exists else []
    )


def test_a_shell_that_completes_makes_no_store(own_store: None, tmp_path: Path) -> None:
    class Context:
        params = {"store": str(tmp_path / "chat.db")}

    (tmp_path / "chat.db").touch()
    assert completion.conversations(Context, None, "l") == []
    assert (tmp_path / "chat.db").stat().st_size == 0


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        ("build chat.json --model gpt-4o", "it is a file: leave out --store to read it"),
        ("show chat.json", "it is a file: leave out --store to read it"),
        ("read chat.json", "it is a file: cw import stores it"),
    ],
)
def test_a_file_that_is_taken_for_a_conversation_gets_a_hint(
    call: str, hint: str, cw: Run, chat: str, tmp_path: Path
) -> None:
    code, _, err = cw(*call.split(), "--store", "chat.db")
    assert code == 1
    assert only_line(err) == f"cw: there is no conversation 'chat.json' ({hint})"
