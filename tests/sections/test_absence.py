"""Sections without text: the receipt gives the reason."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

import contextwright as cw
from contextwright.recall import MemoryList
from contextwright.sections import (
    CurrentTime,
    CurrentUser,
    Episodes,
    Events,
    KeyFacts,
    Memories,
    PastExcerpts,
    PastMessages,
    Persona,
    ReplyTo,
    Section,
    SectionInput,
    UserProfile,
)
from contextwright.systems import gryag

NONE: dict[str, Any] = {"memories": MemoryList()}


@pytest.mark.parametrize(
    ("section", "given", "reason"),
    [
        (Persona(""), {}, "its text is empty"),
        (CurrentTime(), {}, "no time was given: pass now=…"),
        (CurrentUser(), {}, "the question has no author"),
        (ReplyTo(), {}, "the question answers no message"),
        (Memories(), {}, "no memories were given: pass memories=…, or build from a store"),
        (Memories(), NONE, "there is no memory about U1"),
        (UserProfile(), NONE, "there is no profile about U1"),
        (KeyFacts(), NONE, "there is no fact about U1"),
        (PastExcerpts(), NONE, "no past message fits the question"),
        (PastMessages(), NONE, "no past message fits the question"),
        (Episodes(), NONE, "no event fits the question"),
        (Events(), {}, "no event is among the newest messages"),
        (Events(most=0), {}, "no event is among the newest messages"),
    ],
)
def test_a_section_that_says_nothing_says_why(
    section: Section, given: dict[str, Any], reason: str
) -> None:
    author = None if isinstance(section, CurrentUser) else "U1"
    recipe = cw.Recipe(system=(section, "Be brief."))
    context = recipe.build(cw.user("Hello?", author=author), model="gpt-4o", **given)
    name = f"{type(section).__name__}[0]"
    assert context.absent == {name: reason} == context.receipt()["absent"]
    assert f"  {name}  {reason}\n" in context.explain()
    assert list(context.sections) == ["Instructions[1]"]


@pytest.mark.parametrize(
    ("section", "reason"),
    [
        (CurrentUser(), "there is no question"),
        (ReplyTo(), "there is no question"),
        (Memories(), "the question has no author, and no memory is about everybody"),
        (UserProfile(), "the question has no author, and no profile is about everybody"),
        (KeyFacts(), "the question has no author, and no fact is about everybody"),
        (PastMessages(), "the question has no words"),
        (Episodes(), "the question has no words"),
    ],
)
def test_a_section_without_a_question(section: Section, reason: str) -> None:
    recipe = cw.Recipe(system=(section, "Be brief."))
    context = recipe.build(cw.assistant("Hello?"), model="gpt-4o", **NONE)
    assert context.absent == {f"{type(section).__name__}[0]": reason}


class Silent(Section):
    """A section of somebody else's."""

    def write(self, moment: SectionInput) -> str | None:
        return None


def test_a_section_of_ones_own_needs_no_reason() -> None:
    context = cw.Recipe(system=(Silent(),)).build(cw.user("Hello?"), model="gpt-4o")
    assert context.absent == {"Silent[0]": "it has no text"}


def test_a_store_has_its_reasons_too(tmp_path: Any) -> None:
    with cw.Store(tmp_path / "s.db") as store:
        chat = store.conversation("g")
        chat.add(cw.user("Hello?", author=cw.Author("U1", "Alice")))
        now = datetime(2025, 1, 15, tzinfo=UTC)
        context = chat.context(gryag.recipe("Be gryag."), model="gemini-3.8-flash", now=now)
    assert context.absent == {
        "ReplyTo[3]": "the question answers no message",
        "Memories[4]": "there is no memory about U1",
        "UserProfile[5]": "there is no profile about U1",
        "KeyFacts[6]": "there is no fact about U1",
        "PastExcerpts[7]": "no past message fits the question",
        "Episodes[8]": "no event fits the question",
    }


def test_no_events_are_wanted() -> None:
    event = msgspec.structs.replace(cw.system("Alice joined"), kind="event")
    recipe = cw.Recipe(system=(Events(most=0), "Be brief."))
    context = recipe.build([event, cw.user("Hello?")], model="gpt-4o")
    assert context.absent == {"Events[0]": "no event is among the newest messages"}
    written = cw.Recipe(system=(Events(most=1), "Be brief."))
    assert "Events[0]" in written.build([event, cw.user("Hello?")], model="gpt-4o").sections
