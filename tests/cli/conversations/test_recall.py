"""`cw recall` and `cw search`: what they print, where, and with which exit code."""

from __future__ import annotations

import json
import sys
from math import exp
from pathlib import Path

import pytest

import contextwright
from commands import Run
from contextwright import Author, assistant, user
from contextwright.recall.passages import passages_of
from samples.recall import LONG

ALICE, BOB = Author(id="U1", name="Alice"), Author(id="U2", name="Bob\x1b[31m")
TALK = [
    user("I am allergic to hazelnuts.", author=ALICE, sent_at="2026-05-04T12:00:00Z"),
    user("Good to know.\n# No soup then", author=BOB, sent_at="2026-05-04T12:01:00Z"),
    user("My train leaves at 7:40.", author=ALICE, sent_at="2026-05-11T18:00:00Z"),
    assistant("Have a good trip."),
]
QUESTION = "What is Alice allergic to?"


@pytest.fixture
def cw(cw: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command in this process, on a store with a talk."""
    monkeypatch.setenv("CONTEXTWRIGHT_STORE", str(tmp_path / "chat.db"))
    monkeypatch.chdir(tmp_path)
    with contextwright.Store(tmp_path / "chat.db") as store:
        store.conversation("lunch").add(TALK)
        store.conversation("other").add(user("The hazelnuts are on the table."))
        store.for_tenant("acme").conversation("lunch").add(user("I am allergic to cats."))
    return cw


# --- recall --------------------------------------------------------------------------------------


def test_recall_prints_lines_with_day_and_speaker_without_filler(cw: Run) -> None:
    assert cw("recall", QUESTION, "--conversation", "lunch") == (
        0,
        "2026-05-04, Alice: I am allergic to hazelnuts.\n"
        "2026-05-04, Bob [31m: Good to know. # No soup then\n",
        "",
    )
    both = "Is Alice allergic to hazelnuts, and when does Alice leave by train?"
    lines = cw("recall", both, "--conversation", "lunch").out.splitlines()
    assert lines[0] == "2026-05-04, Alice: I am allergic to hazelnuts."
    assert lines[-1] == "2026-05-11, Alice: My train leaves at 7:40."


def test_a_question_without_an_answer_is_told_so(cw: Run) -> None:
    asked = ("recall", "Which bicycle did Carol buy in Lisbon?", "--conversation", "lunch")
    code, out, err = cw(*asked)
    assert (code, out) == (1, "")
    assert err.startswith("cw: nothing found that answers it (")
    assert err.endswith(" sure; --min-confidence 0)\n")
    assert cw(*asked, "--min-confidence", "0").code == 0
    found = json.loads(cw("recall", QUESTION, "--conversation", "lunch", "--json").out)
    assert found["confidence"] > 0.5


def test_recall_looks_through_all_conversations(cw: Run) -> None:
    lines = cw("recall", "hazelnuts", "--limit", "2").out.splitlines()
    assert lines == [
        "2026-05-04, lunch, Alice: I am allergic to hazelnuts.",
        "other, user: The hazelnuts are on the table.",
    ]


NARROWER: dict[str, tuple[tuple[str, ...], list[int]]] = {
    "by name": (("--about", "bob\x1b[31m"), [2]),
    "by id": (("--about", "U2"), [2]),
    "by number": (("--limit", "1"), [1]),
    "by budget": (("--budget", "40"), [1]),
    "by a model's tokens": (("--budget", "22", "--model", "gpt-4o"), [1]),
}


@pytest.mark.parametrize(("options", "numbers"), NARROWER.values(), ids=NARROWER)
@pytest.mark.parametrize("embedder", ["wordllama", "none"])
def test_what_is_recalled_can_be_narrowed(
    cw: Run, embedder: str, options: tuple[str, ...], numbers: list[int]
) -> None:
    asked = ("recall", QUESTION, "-c", "lunch", "--embedder", embedder, "--json")
    options = ("--min-confidence", "0", *options)
    assert [one["seq"] for one in json.loads(cw(*asked, *options).out)["items"]] == numbers


def test_least_leaves_out_what_scores_less(cw: Run) -> None:
    asked = ("recall", QUESTION, "-c", "lunch", "--json")
    scores = {one["seq"]: one["score"] for one in json.loads(cw(*asked).out)["items"]}
    assert len(set(scores.values())) == 2
    for least in scores.values():
        found = json.loads(cw(*asked, "--min-score", str(least - 1e-4)).out)["items"]
        assert {one["seq"] for one in found} == {
            seq for seq, score in scores.items() if score >= least
        }


def test_times_are_told_from_now(cw: Run) -> None:
    asked = ("recall", "What did we say last week?", "-c", "lunch", "--json")
    found = json.loads(cw(*asked, "--now", "2026-05-15T12:00:00Z").out)["items"]
    assert [one["seq"] for one in found if "date" in one["parts"]] == [1, 2, 3]
    assert not any("date" in one["parts"] for one in json.loads(cw(*asked).out)["items"])


def test_explain_is_a_table_of_reasons(cw: Run) -> None:
    code, out, err = cw("recall", QUESTION, "-c", "lunch", "--limit", "2", "--explain")
    head, first, second, _, used, rule = out.splitlines()
    assert (code, err) == (0, "")
    assert head.split() == ["score", "message", "tokens", "speaker", "day", "because"]
    assert first.split("  ")[1:] != second.split("  ")[1:]
    assert "lunch 1" in first
    assert " 2026-05-04  base " in first
    assert ", speaker +" in first
    assert ", words nearby +" in first
    assert float(first.split()[0]) >= float(second.split()[0])
    assert used.startswith("2 recalled, ")
    assert used.endswith(" of 2,000 tokens, by words and meaning (use-multilingual-3-v3)")
    assert rule == "The score is a probability; the reasons add up to its log-odds."
    alone = cw("recall", QUESTION, "--explain", "--embedder", "none").out
    assert "tokens, by words only\n" in alone
    assert "meaning" not in alone
    assert "\x1b" not in out + alone


@pytest.mark.parametrize("embedder", ["wordllama", "none"])
def test_json_has_parts_that_add_up(cw: Run, embedder: str) -> None:
    cw("remember", "U1", "Is allergic to nuts")
    found = json.loads(cw("recall", QUESTION, "--json", "--embedder", embedder).out)
    assert found["query"] == QUESTION
    assert found["tokens"] == sum(one["tokens"] for one in found["items"]) <= found["budget"]
    assert found["embedder"] == (None if embedder == "none" else "wordllama-256")
    for one in found["items"]:
        odds = sum(one["parts"].values())
        assert one["score"] == pytest.approx(1 / (1 + exp(-odds)), abs=1e-3)
        assert "base" not in one["reason"]
    known = [one for one in found["items"] if one["memory"]]
    assert [one["memory"]["text"] for one in known] == ["Is allergic to nuts"]
    said = next(one for one in found["items"] if one["seq"] == 1)
    assert said["conversation"] == "lunch"
    assert said["message"]["parts"][0]["text"] == "I am allergic to hazelnuts."


def test_the_part_of_a_long_message_is_named(cw: Run, tmp_path: Path) -> None:
    with contextwright.Store(tmp_path / "chat.db", embedder=None) as store:
        store.conversation("garden").add([user("Hello"), assistant(LONG)])
    asked = ("recall", "Where does the spare key hang?", "-c", "garden", "--embedder", "none")
    narrow = ("--budget", "120", "--limit", "1", "--min-confidence", "0")
    (item,) = json.loads(cw(*asked, *narrow, "--json").out)["items"]
    start, end = passages_of(LONG)[1]
    assert item["excerpt"] == {"parts": [2], "of": 3, "spans": [[start, end]]}
    assert item["message"]["parts"][0]["text"] == LONG
    assert "garden 2, part 2 of 3" in cw(*asked, *narrow, "--explain").out
    (whole,) = json.loads(cw(*asked, "--limit", "1", "--min-confidence", "0", "--json").out)[
        "items"
    ]
    assert whole["excerpt"] is None


def test_a_memory_is_recalled_with_the_talk(cw: Run) -> None:
    cw("remember", "U1", "Is allergic to nuts")
    assert ", about Alice: Is allergic to nuts\n" in cw("recall", QUESTION).out
    table = cw("recall", QUESTION, "--explain").out
    assert sum("  memory  " in line for line in table.splitlines()) == 1


def test_nobody_recalls_what_is_anothers(cw: Run) -> None:
    assert "cats" not in cw("recall", QUESTION).out
    asked = ("recall", QUESTION, "--tenant", "acme", "--min-confidence", "0")
    assert cw(*asked).out == "lunch, user: I am allergic to cats.\n"
    assert cw("recall", QUESTION, "--tenant", "nobody") == (1, "", "cw: nothing recalled\n")


# --- search --------------------------------------------------------------------------------------


def test_search_finds_words(cw: Run) -> None:
    assert cw("search", "allergic hazelnuts", "--limit", "1") == (
        0,
        "1.00  lunch 1  Alice: I am allergic to hazelnuts.\n",
        "",
    )
    (hit,) = json.loads(cw("search", "train", "-c", "lunch", "--json").out)
    assert (hit["conversation"], hit["seq"], hit["score"]) == ("lunch", 3, 1.0)


@pytest.mark.parametrize("command", ["recall", "search"])
def test_who_waits_for_the_index_sees_how_far_it_is(
    cw: Run, command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with contextwright.Store(tmp_path / "chat.db") as store:
        store.conversation("long").add([user(f"hazelnuts {number}") for number in range(300)])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert "indexing" in cw(command, "hazelnuts", "-c", "long", "--limit", "1").err


@pytest.mark.parametrize("command", ["recall", "search"])
def test_a_question_may_come_by_standard_input(cw: Run, command: str) -> None:
    arguments = ("-c", "lunch", "--limit", "1")
    words = cw(command, "hazelnuts", *arguments)
    assert cw(command, "-", *arguments, input=b"hazelnuts\n") == words
    assert "allergic" in words.out


# --- both ----------------------------------------------------------------------------------------

WRONG: dict[str, tuple[tuple[str, ...], int, str]] = {
    "nothing recalled": (
        ("recall", "zebra", "--min-score", "0.99", "--min-confidence", "0"),
        1,
        "cw: nothing recalled",
    ),
    "nothing fits": (
        ("recall", "Who is allergic to hazelnuts?", "--budget", "1"),
        1,
        "cw: nothing found that fits --budget 1",
    ),
    "nothing found": (("search", "zebra"), 1, "cw: nothing found"),
    "no such conversation": (
        ("recall", "soup", "-c", "nobody"),
        1,
        "cw: there is no conversation 'nobody'",
    ),
    "no such conversation to search": (
        ("search", "soup", "-c", "nobody"),
        1,
        "cw: there is no conversation 'nobody'",
    ),
    "no store": (
        ("recall", "soup", "--store", "none.db"),
        1,
        "cw: there is no store at 'none.db' (cw add creates one)",
    ),
    "no store to search": (
        ("search", "soup", "--store", "none.db"),
        1,
        "cw: there is no store at 'none.db' (cw add creates one)",
    ),
    "an id that is no text": (
        ("search", "soup", "-c", "\udcff"),
        2,
        "cw: the conversation's id '\\udcff' has half a surrogate pair at character 1",
    ),
    "a store that is no text": (
        ("backup", "\udcff.db"),
        2,
        "cw: '\\udcff.db' is not a valid store location "
        "(a file, or a URL such as postgresql://host/database)",
    ),
    "no question": (("recall", ""), 2, "cw: the question is empty"),
    "no words to search": (("search", " "), 2, "cw: the question is empty"),
    "no time": (
        ("recall", "soup", "--now", "noon"),
        2,
        "cw: --now 'noon' is not an ISO 8601 time (example: 2026-11-15T13:05:00+02:00)",
    ),
    "reasons twice": (
        ("recall", "soup", "--json", "--explain"),
        2,
        "cw: --json has the reasons too (leave out --explain)",
    ),
}


@pytest.mark.parametrize(("arguments", "code", "message"), WRONG.values(), ids=WRONG)
def test_what_goes_wrong(
    cw: Run, arguments: tuple[str, ...], code: int, message: str, tmp_path: Path
) -> None:
    assert cw(*arguments) == (code, "", f"{message}\n")
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("command", ["recall", "search"])
def test_help_teaches_with_examples(cw: Run, command: str) -> None:
    code, out, _ = cw(command, "--help")
    assert code == 0
    assert f"\n  cw {command} " in out


def test_nothing_said_moves_the_cursor(cw: Run, tmp_path: Path) -> None:
    evil = "hazelnuts \x1b]0;x\x07\u202e\r\n\x9b2J"
    with contextwright.Store(tmp_path / "chat.db") as store:
        author = Author(id="E", name=f"Eve {evil}")
        store.conversation(f"e{'v' * 40}l").add(user(evil, author=author))
    for option in ((), ("--explain",)):
        out = cw("recall", "hazelnuts", *option).out
        assert not {letter for letter in out if not letter.isprintable()} - {"\n"}
