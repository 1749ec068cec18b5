"""`cw erase`, `cw edit`, `cw tenants`, and copies of one tenant."""

import json
from pathlib import Path

import pytest

from commands import Run
from contextwright.store.store import Store

SECRET = "The word is xylophone"


@pytest.fixture(autouse=True)
def filled(cw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXTWRIGHT_STORE", str(tmp_path / "chat.db"))
    for tenant in ((), ("--tenant", "acme")):
        for text in (SECRET, "Really?"):
            at = ("--at", "2026-01-01T10:00:00Z")
            assert cw("add", "-100200", text, "--author", "U1", *at, *tenant).code == 0
    assert cw("remember", "U1", "Plays the xylophone", "--tenant", "acme").code == 0


def test_erase_messages(cw: Run) -> None:
    assert cw("erase", "-100200", "1", "--dry-run").out == (
        "would erase: 1 message, 0 quotes, 0 memories\n"
    )
    assert "xylophone" in cw("read", "-100200").out
    assert cw("erase", "-100200", "1") == (0, "erased: 1 message, 0 quotes, 0 memories\n", "")
    assert cw("read", "-100200").out.startswith("     1 user (erased):\n     2 ")
    assert cw("show-again", "-100200", "1").code == 2
    assert cw("erase", "-100200", "9").code == 1


def test_erase_people_tenants_and_what_is_old(cw: Run, tmp_path: Path) -> None:
    done = json.loads(cw("erase", "--person", "U1", "--tenant", "acme", "--json").out)
    assert (done["messages"], done["memories"], done["remains"]) == (2, 1, [])
    dry = cw("erase", "--older-than", "1d", "--dry-run").out
    assert dry == "would erase: 2 messages, 0 quotes, 0 memories, 1 conversation removed whole\n"
    assert cw("erase", "--older-than", "2026-01-02").code == 0
    assert cw("list").out == ""
    assert cw("erase", "--tenant", "acme", "--everything").code == 0
    assert cw("tenants") == (0, "", "cw: no tenants\n")


@pytest.mark.parametrize(
    "wrong",
    [
        (),
        ("-100200",),
        ("--everything",),
        ("--person", "U1", "--older-than", "1d"),
        ("--older-than", "soon"),
        ("--older-than", "999999w"),
    ],
)
def test_what_is_not_one_thing_is_refused(cw: Run, wrong: tuple[str, ...]) -> None:
    before = cw("read", "-100200").out
    assert cw("erase", *wrong).code == 2
    assert cw("read", "-100200").out == before


@pytest.mark.parametrize(
    ("age", "error"),
    [
        (
            "soon",
            "is not an age or a date (write an age like 12h, 90d or 2w, or a date like 2026-11-15)",
        ),
        (
            "3m",
            "is not an age or a date (write an age like 12h, 90d or 2w, or a date like 2026-11-15)",
        ),
        ("999999w", "is before the year 1"),
        ("9999999d", "is before the year 1"),
        ("9" * 18 + "h", "is before the year 1"),
    ],
)
def test_an_unreadable_age_names_what_is_read(cw: Run, age: str, error: str) -> None:
    assert cw("erase", "--older-than", age) == (2, "", f"cw: --older-than '{age}' {error}\n")


def test_backups_are_named(cw: Run, tmp_path: Path) -> None:
    target = tmp_path / "monday.db"
    assert cw("backup", str(target)).code == 0
    assert cw("erase", "-100200", "1").err == f"cw: may still hold it: the backup {target}\n"
    target.unlink()
    assert cw("erase", "-100200", "2").err == ""


def test_edit(cw: Run) -> None:
    done = cw("edit", "-100200", "1", "The word is zebra")
    assert done == (0, "", "cw: message 1 of '-100200' is edited\n")
    assert "zebra" in cw("read", "-100200").out
    assert cw("edit", "-100200", "1", "Nothing", "--erase-old").code == 0
    assert cw("edit", "-100200", "7", "Nothing").code == 1


def test_one_tenant_is_listed_and_copied(cw: Run, tmp_path: Path) -> None:
    assert cw("tenants").out == (
        'tenant  conversations  messages  memories\n""                  1         2         0\n'
        "acme                1         2         1\n"
    )
    source, target = str(tmp_path / "chat.db"), tmp_path / "acme.db"
    asked = ("copy", source, str(target), "--tenant", "acme")
    assert cw(*asked, "--dry-run").out == "2 messages of 1 conversation\n1 memory\n"
    assert not target.exists()
    assert cw(*asked).code == 0
    with Store(target) as store:
        found = [
            (one.name, one.conversations, one.messages, one.memories) for one in store.tenants()
        ]
    assert found == [("acme", 1, 2, 1)]
