"""Sections: their text, what they leave out, and that people's text opens no structure."""

import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright.context import recipe_files as recipes
from contextwright.sections import Section, SectionInput
from samples.sections import said

ALICE = cw.Author("987654321", "Alice", "alice_ua")
BOB = cw.Author("111222333", "Bob")
WINTER = datetime(2025, 1, 15, 12, 30, tzinfo=UTC)

NOTES = cw.recall.MemoryList(
    [
        cw.Memory("memory", "User is from Kyiv", ALICE.id),
        cw.Memory("memory", "Likes coffee", ALICE.id),
        cw.Memory("memory", "User is from Kyiv", ALICE.id),
        cw.Memory("memory", "Likes tea", BOB.id),
        cw.Memory("profile", "Old.", ALICE.id),
        cw.Memory("profile", "A developer.\nDrinks coffee.", ALICE.id),
        cw.Memory("fact", "Kyiv", ALICE.id, "location", weight=0.7),
        cw.Memory("fact", "Software Developer", ALICE.id, "occupation", weight=0.9),
        cw.Memory("fact", "42", ALICE.id, "shoe_size", weight=0.1),
        cw.Memory("passage", "The coffee in Lviv is better."),
        cw.Memory("passage", "The COFFEE in Lviv is better."),
        cw.Memory("passage", "Coffee? " + "Good. " * 60),
        cw.Memory("episode", "They drank coffee.", key="First meeting"),
        cw.Memory("episode", "More coffee.", key="Second\nmeeting"),
    ]
)


def asked(text: str = "coffee?", **fields: Any) -> SectionInput:
    """A moment in which Alice asks."""
    question = cw.user(text, author=ALICE, **fields)
    return SectionInput(WINTER, question, (question,), NOTES)


@pytest.mark.parametrize(
    ("now", "clock"),
    [
        pytest.param(WINTER, "Wednesday, January 15, 2025 at 14:30:00", id="GRY-13 winter"),
        pytest.param(
            datetime(2025, 7, 5, 21, 59, 59, tzinfo=UTC),
            "Sunday, July 06, 2025 at 00:59:59",
            id="GRY-13 summer",
        ),
    ],
)
@pytest.mark.parametrize("zone", ["Europe/Kyiv", "Europe/Kiev"])
def test_the_clock(zone: str, now: datetime, clock: str) -> None:
    section = cw.CurrentTime(zone)
    expected = f"# Current Time\nThe current time is: {clock}"
    assert said(section, SectionInput(now)) == expected
    assert said(section, SectionInput()) is None


@pytest.mark.parametrize(
    ("author", "expected"),
    [
        pytest.param(
            ALICE,
            "**Name**: Alice\n**User ID**: 987654321\n**Username**: @alice_ua",
            id="GRY-14",
        ),
        pytest.param(
            cw.Author("1", None, "@a"),
            "**Name**: Unknown\n**User ID**: 1\n**Username**: @a",
            id="GRY-14 no name",
        ),
        pytest.param(cw.Author(None, "Bob"), "**Name**: Bob", id="GRY-14 no handle"),
        pytest.param(None, None, id="GRY-14 nobody"),
    ],
)
def test_who_asks(author: cw.Author | None, expected: str | None) -> None:
    moment = SectionInput(question=cw.user("hi", author=author))
    assert cw.sections.CurrentUser().write(moment) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        pytest.param(
            cw.Reply("7", BOB, "Привіт, як справи?"),
            "**Replying to**: Bob (ID: 111222333)\n**Original message**: Привіт, як справи?",
            id="GRY-15",
        ),
        pytest.param(
            cw.Reply("7", None, "x" * 200), f"**Original message**: {'x' * 200}", id="GRY-15 just"
        ),
        pytest.param(
            cw.Reply("7", None, "x" * 201),
            f"**Original message**: {'x' * 197}...",
            id="GRY-15 too long",
        ),
        pytest.param(cw.Reply("7"), None, id="GRY-15 nothing known"),
        pytest.param(None, None, id="GRY-15 no reply"),
    ],
)
def test_what_is_answered(reply: cw.Reply | None, expected: str | None) -> None:
    assert cw.sections.ReplyTo().write(asked(reply_to=reply)) == expected


WHOLE = "**Replying to**: Bob (ID: 111222333)\n**Original message**: Old words"


@pytest.mark.parametrize(
    ("parent", "reply", "expected"),
    [
        pytest.param({"message_id": 7}, cw.Reply("7"), WHOLE, id="GRY-15 by its id"),
        pytest.param({"source": "telegram/5/7"}, cw.Reply("7"), WHOLE, id="GRY-15 imported"),
        pytest.param(
            {"message_id": 7},
            cw.Reply("7", cw.Author("9", "Zed"), "As told"),
            "**Replying to**: Zed (ID: 9)\n**Original message**: As told",
            id="GRY-15 as told",
        ),
        pytest.param({"message_id": 7}, cw.Reply("7", BOB), WHOLE, id="GRY-15 the rest"),
        pytest.param({"message_id": 8}, cw.Reply("7"), None, id="GRY-15 another"),
        pytest.param({"message_id": 7, "chat_id": 2}, cw.Reply("7"), None, id="another chat"),
    ],
)
def test_what_is_answered_is_found_in_the_history(
    parent: dict[str, Any], reply: cw.Reply, expected: str | None
) -> None:
    own = {"chat_id": 1} if "source" in parent else {"chat_id": 1, "message_id": 9}
    question = cw.user("coffee?", author=ALICE, reply_to=reply, meta=own)
    history = [cw.user("Old words", author=BOB, meta=parent), cw.assistant("Hm."), question]
    recipe = cw.Recipe(system=(cw.sections.ReplyTo(), "Be brief."))
    context = recipe.build(history, model="gpt-4o")
    heading = "## Reply Context\n"
    assert context.sections.get("ReplyTo[0]") == (expected and heading + expected)
    reason = {} if expected else {"ReplyTo[0]": "the message it answers is unknown"}
    assert context.absent == reason


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        pytest.param(
            cw.Memories(),
            "# Memories about Alice (ID: 987654321)\n- User is from Kyiv\n- Likes coffee",
            id="GRY-16",
        ),
        pytest.param(
            cw.Memories(most=1),
            "# Memories about Alice (ID: 987654321)\n- Likes coffee",
            id="GRY-16 the one that fits",
        ),
        pytest.param(
            cw.sections.UserProfile(), "## User Profile\nA developer.\nDrinks coffee.", id="profile"
        ),
        pytest.param(
            cw.sections.KeyFacts(least=0.5),
            "## Key Facts\n- Occupation: Software Developer\n- Location: Kyiv",
            id="GRY-17",
        ),
        pytest.param(
            cw.sections.KeyFacts(),
            "## Key Facts\n- Occupation: Software Developer\n- Location: Kyiv\n- Shoe Size: 42",
            id="GRY-17 a label of two words",
        ),
        pytest.param(
            cw.sections.PastExcerpts(),
            "## Relevant Past Context\n"
            "- [Relevance: 1.00] The coffee in Lviv is better.\n"
            f"- [Relevance: 1.00] {('Coffee? ' + 'Good. ' * 60)[:197]}...",
            id="GRY-18 GRY-37",
        ),
        pytest.param(
            cw.sections.Episodes(),
            "## Memorable Events\n"
            "- **Topic**: First meeting\n- **Summary**: They drank coffee.\n\n"
            "- **Topic**: Second meeting\n- **Summary**: More coffee.",
            id="GRY-19 GRY-48 GRY-49",
        ),
        pytest.param(cw.sections.Persona("Be kind."), "# Persona\nBe kind.", id="GRY-12"),
        pytest.param(
            cw.sections.Persona("Be kind.", heading="# Persona\n"),
            "# Persona\n\nBe kind.",
            id="GRY-20",
        ),
        pytest.param(cw.sections.Persona(), None, id="GRY-11 no persona"),
    ],
)
def test_what_sections_say(section: Section, expected: str | None) -> None:
    assert said(section, asked()) == expected


@pytest.mark.parametrize(
    "section",
    [
        cw.Memories(),
        cw.sections.UserProfile(),
        cw.sections.KeyFacts(),
        cw.sections.PastExcerpts(),
        cw.sections.Episodes(),
    ],
)
@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(SectionInput(), id="nothing"),
        pytest.param(SectionInput(question=cw.user("coffee", author=ALICE)), id="no memories"),
        pytest.param(
            SectionInput(question=cw.user("Привіт", author="5"), memories=NOTES), id="stranger"
        ),
    ],
)
def test_gry_11_no_source_no_heading(section: Section, moment: SectionInput) -> None:
    assert said(section, moment) is None


def test_a_name_is_no_id() -> None:
    """Whoever calls himself Alice is told nothing about her."""
    moment = SectionInput(
        question=cw.user("coffee", author=cw.Author(name=ALICE.id)), memories=NOTES
    )
    assert said(cw.Memories(), moment) is None


def test_gry_47_what_the_history_says_is_not_recalled() -> None:
    moment = asked()
    history = (cw.user("The coffee  in Lviv is better."), *moment.messages)
    words = (
        cw.sections.PastExcerpts().write(SectionInput(WINTER, moment.question, history, NOTES))
        or ""
    )
    assert "Relevance: 1.00] The COFFEE in Lviv" in words
    assert "The coffee in Lviv" not in words


def test_how_far_sections_look_back() -> None:
    """Whoever reads a history only in part has to know."""
    assert cw.Recipe(system=("x", cw.sections.Persona(), cw.Memories())).reach == 0
    assert recipes.find("gryag").reach == 200
    assert cw.Recipe(system=(cw.sections.Transcript(100), cw.sections.PastExcerpts())).reach == 400
    assert cw.Recipe(reply_media=True).reach == 200


# A section of one's own, and one that fails


class Weather(cw.Section):
    def write(self, moment: SectionInput) -> str | None:
        return "It is sunny."


class Broken:
    """A source of memories that is down."""

    def recall(self, wanted: cw.recall.MemoryQuery) -> list[cw.Memory]:
        raise ConnectionError("no route to host\nsecret")


def test_a_section_of_ones_own_is_one_method() -> None:
    recipe = cw.Recipe(system=("Be kind.", Weather()))
    context = recipe.build([cw.user("Hi")], model="claude-sonnet-5-5")
    assert context.sections == {"Instructions[0]": "Be kind.", "Weather[1]": "It is sunny."}
    assert context.payload["messages"][0]["content"][-1]["text"] == "It is sunny."


def test_gry_38_a_source_that_fails_leaves_the_others_whole() -> None:
    recipe = cw.Recipe(system=("Be kind.", cw.Memories(), cw.sections.PastExcerpts(), Weather()))
    question = cw.user("Hi", author=ALICE)
    context = recipe.build([question], model="claude-sonnet-5-5", memories=Broken())
    assert list(context.sections) == ["Instructions[0]", "Weather[3]"]
    assert [str(change) for change in context.changes if change.code == "loss.section"] == [
        "loss.section Memories[1]: it failed: ConnectionError: 'no route to host'",
        "loss.section PastExcerpts[2]: it failed: ConnectionError: 'no route to host'",
    ]


def test_a_required_section_that_fails_is_an_error() -> None:
    recipe = cw.Recipe(system=(cw.sections.File("nowhere.txt"),))
    with pytest.raises(cw.UsageError, match="'nowhere.txt': No such file"):
        recipe.build([cw.user("Hi")], model="gpt-4o")


def test_gry_35_budgets_are_tokens_or_shares() -> None:
    facts = [cw.Memory("memory", f"Memory number {number}", ALICE.id) for number in range(15)]
    chat = [cw.user("Hi", author=ALICE)]

    def lines(budget: int | float | None) -> list[str]:
        recipe = cw.Recipe(system=(cw.Memories(budget=budget),), budget=1_000)
        context = recipe.build(chat, model="gpt-4o", memories=cw.recall.MemoryList(facts))
        cut = [change.reason for change in context.changes if change.code == "loss.section"]
        assert cut == ([] if budget is None else ["cut to its share of 50 tokens"])
        return context.sections["Memories[0]"].splitlines()

    assert len(lines(None)) == 16
    assert lines(50) == lines(0.05)
    # The newest memories stay, each whole.
    heading, *kept = lines(50)
    assert heading == "# Memories about Alice (ID: 987654321)"
    assert kept == [f"- Memory number {number}" for number in range(15 - len(kept), 15)]
    assert 1 < len(kept) < 15


def test_a_budget_for_nothing_leaves_no_heading() -> None:
    recipe = cw.Recipe(system=(cw.Memories(budget=1),))
    context = recipe.build([cw.user("Hi", author=ALICE)], model="gpt-4o", memories=NOTES)
    assert context.sections == {}
    assert [change.reason for change in context.changes][:1] == ["its share is too small"]


# Files


def test_a_file_is_read_below_its_root(tmp_path: Path) -> None:
    (tmp_path / "who").mkdir()
    (tmp_path / "who" / "persona.md").write_text("Be kind.\n", "utf-8")
    file = cw.sections.File("who/persona.md", root=str(tmp_path), heading="# Persona")
    assert said(file, SectionInput()) == "# Persona\nBe kind."


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "a/../../x", "C:\\x", "\\x", "..\\x", "", ".", "a\0b"]
)
def test_a_path_that_leads_elsewhere_is_refused(path: str) -> None:
    with pytest.raises(cw.UsageError):
        cw.sections.File(path)


def test_what_a_file_may_not_be(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(tmp_path / "secret")
    (inside / "loop").symlink_to("loop")
    os.mkfifo(inside / "pipe")
    (inside / "large").write_text("x" * 10 + "é", "utf-8")
    (inside / "binary").write_bytes(b"\xff\xfe")
    (inside / "blank").write_text(" \n")
    for path, reason in (
        ("link", "out of its root"),
        ("loop", "Too many levels of symbolic links"),
        ("pipe", "'pipe' is not a file"),
        ("large", "more than 10 bytes"),
        ("binary", "not UTF-8"),
        ("missing", "No such file"),
    ):
        with pytest.raises(cw.UsageError, match=reason):
            cw.sections.File(path, root=str(inside), largest=10).write(SectionInput())
    (inside / "full").write_text("x" * 10)
    full = cw.sections.File("full", root=str(inside), largest=10)
    assert full.write(SectionInput()) == "x" * 10
    assert cw.sections.File("blank", root=str(inside)).write(SectionInput()) is None
    (inside / "marked").write_text("Be brief.", "utf-8-sig")
    assert cw.sections.File("marked", root=str(inside)).write(SectionInput()) == "Be brief."


def test_recipes_name_every_section(tmp_path: Path) -> None:
    kinds = (
        'text", text = "a', 'instructions", text = "b', 'persona", text = "c',
        'file", path = "d.md', "current-time", "current-user", "reply-to", "memories",
        "user-profile", "key-facts", "past-excerpts", "episodes", "transcript",
    )  # fmt: skip
    listed = ", ".join(f'{{type = "{kind}"}}' for kind in kinds)
    file = tmp_path / "mine.toml"
    file.write_text(f"system = [{listed}]")
    (tmp_path / "d.md").write_text("d")
    recipe = recipes.load(file)
    assert len(recipe.system) == len(kinds)
    context = recipe.build([cw.user("coffee", author=ALICE)], model="gpt-4o", memories=NOTES)
    assert context.sections["File[3]"] == "d"
    assert "Episodes[11]" in context.sections
    with pytest.raises(cw.ParseError, match="no folder"):
        recipes.read({"system": [{"type": "file", "path": "d.md"}]})
    file.write_text('system = [{type = "file", path = "passwd", root = "/etc"}]')
    with pytest.raises(cw.ParseError, match="own folder"):
        recipes.load(file)


def test_a_time_without_a_zone_is_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the request is built: the same input makes the same bytes."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    recipe = cw.Recipe(system=[cw.CurrentTime("UTC")])
    try:
        naive, aware = (
            recipe.build([cw.user("Late?")], model="gpt-4o", now=now).payload
            for now in (datetime(2026, 1, 1, 12), datetime(2026, 1, 1, 12, tzinfo=UTC))
        )
    finally:
        monkeypatch.undo()
        time.tzset()
    assert naive == aware
