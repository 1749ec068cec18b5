"""Sections keep to their share, leave what they do not use to others, and are counted by name."""

import datetime
from typing import Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.context import recipe_files as recipes
from contextwright.context.recipe import Recipe
from contextwright.errors import ParseError
from contextwright.messages.changes import Change
from contextwright.sections import (
    CurrentTime,
    Instructions,
    Section,
    SectionInput,
    Share,
    Volatility,
)
from contextwright.sections.budget import FittedSection, SectionWriter

NOW = datetime.datetime(2026, 11, 15, 12, 0, tzinfo=datetime.UTC)
WORDS = "one two three four five six seven eight nine ten " * 10


def words(text: str) -> int:
    """A price that is easy to follow: one token a word."""
    return len(text.split())


def fit(
    sections: list[Section], budget: int, placement: Literal["volatility", "system"]
) -> tuple[list[FittedSection], list[Change]]:
    found = SectionWriter(sections, SectionInput(price=words)).fit(budget, placement)
    return list(found.sections), list(found.changes)


def said(text: str, share: Share, volatility: Volatility = "static") -> Section:
    return Instructions(text, volatility, budget=share)


def test_what_a_section_does_not_use_flows_on_to_the_next_with_a_share() -> None:
    sections = [
        said("a b", 10),
        said("c " * 50, None),
        said("", 5),
        said(WORDS, 20),
        said(WORDS, 0.1),
    ]
    written, changes = fit(sections, 1_000, "volatility")
    lengths = {section.name: words(section.text) for section in written}
    assert list(lengths) == [f"Instructions[{index}]" for index in (0, 1, 3, 4)]
    short, free, long, late = lengths.values()
    assert short == 2
    assert free == 50
    assert 20 < long <= 33, "its own 20, 8 of the short one, 5 of the silent one"
    assert late == 100
    assert changes == [Change("loss.section", "Instructions[3]", "cut to its share of 33 tokens")]


def test_a_share_flows_from_what_never_changes_to_what_changes_every_turn() -> None:
    clock, persona = said("it is noon", 30, "turn"), said(WORDS, 40)
    written, _ = fit([clock, persona], 1_000, "volatility")
    assert [(section.name, section.beside) for section in written] == [
        ("Instructions[1]", False),
        ("Instructions[0]", True),
    ]
    assert words(written[0].text) <= 40, "else its words would move with the clock's"
    in_system, _ = fit([clock, persona], 1_000, "system")
    assert [(section.name, section.beside) for section in in_system] == [
        ("Instructions[0]", False),
        ("Instructions[1]", False),
    ]


def test_a_share_too_small_for_any_words_leaves_the_section_out() -> None:
    written, changes = fit([said(WORDS, 3)], 1_000, "volatility")
    assert written == []
    assert changes == [Change("loss.section", "Instructions[0]", "its share is too small")]


class Counting(Section):
    """Says how many tokens it may use, below a heading of two."""

    heading = "# Mine"
    budget: Share = 20

    def write(self, moment: SectionInput) -> str | None:
        return f"tokens {moment.tokens}"


def test_a_section_knows_its_room_before_it_writes() -> None:
    class Free(Counting):
        budget = None

    written, _ = fit([said("a b", 5), Counting(), Free()], 1_000, "volatility")
    assert [section.text for section in written[1:]] == [
        "# Mine\ntokens 21",  # 20, and 3 of the first, less 2 of the heading
        "# Mine\ntokens None",
    ]


@pytest.mark.parametrize(
    ("share", "told"),
    [
        (None, ["Likes tea", "Was born by the sea in a long cold winter", "Has a dog"]),
        (30, ["Likes tea", "Was born by the sea in a long cold winter", "Has a dog"]),
        (14, ["Likes tea", "Has a dog"]),
        (11, ["Has a dog"]),
    ],
)
def test_a_section_that_picks_fills_its_share_with_what_fits(share: Share, told: list[str]) -> None:
    texts = ("Likes tea", "Was born by the sea in a long cold winter", "Has a dog")
    moment = SectionInput(
        question=cw.user("hi", author="1"),
        memories=cw.recall.MemoryList(cw.Memory("memory", text, about="1") for text in texts),
        price=words,
    )
    found = SectionWriter([cw.Memories(budget=share)], moment).fit(1_000, "volatility")
    (section,) = found.sections
    assert section.text.splitlines()[1:] == [f"- {text}" for text in told]
    assert [change.code for change in found.changes] == ["loss.section"] * (len(told) < 3)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 60),
            st.none() | st.integers(0, 40) | st.sampled_from((0.01, 0.1, 0.5)),
            st.sampled_from(("static", "rare", "turn")),
        ),
        max_size=6,
    ),
    st.integers(1, 500),
)
def test_sections_with_a_share_never_use_more_than_all_shares(
    given: list[tuple[int, Share, Volatility]], budget: int
) -> None:
    sections = [said("word " * length, share, volatility) for length, share, volatility in given]
    written, _ = fit(sections, budget, "volatility")
    texts = {section.name: section.text for section in written}
    names = [f"Instructions[{index}]" for index in range(len(sections))]
    shares = [s.budget for s in sections]
    limits = [int(share * budget) if isinstance(share, float) else share for share in shares]
    used = [words(texts.get(name, "")) for name in names]
    capped = [(mine, share) for mine, share in zip(used, limits, strict=True) if share is not None]
    assert sum(mine for mine, _ in capped) <= sum(share for _, share in capped)
    free = [
        (name, length)
        for name, (length, share, _) in zip(names, given, strict=True)
        if share is None
    ]
    assert all(words(texts.get(name, "")) == length for name, length in free)


@pytest.mark.parametrize(
    ("model", "places"),
    [
        ("claude-sonnet-5-5", ("system", "tools", "messages[0]", "request")),
        ("gpt-4o", ("messages[0]", "tools", "messages[1]", "request")),
        ("gemini-3.8-flash", ("system", "tools", "contents[0]", "request")),
    ],
)
def test_the_ledger_has_every_section_by_name(model: str, places: tuple[str, ...]) -> None:
    recipe = Recipe(system=("You are kind.", CurrentTime(), Instructions("Be brief.", "rare")))
    tools = [cw.Tool("search", "Look things up.", {"type": "object", "properties": {}})]
    context = recipe.build([cw.user("hello there")], model=model, now=NOW, tools=tools)
    ledger = context.ledger
    assert set(ledger.places) == set(places)
    assert list(ledger.sections) == ["Instructions[0]", "Instructions[2]", "CurrentTime[1]"]
    for name, text in context.sections.items():
        assert ledger.sections[name] == cw.count(text, model=model).tokens
    assert ledger.tools == ledger.places["tools"] > 0
    alone = Recipe().build([cw.user("hello there")], model=model).ledger
    assert abs(ledger.history - alone.history) <= 1, "the clock beside the question is a section"
    assert (
        sum(ledger.sections.values()) + ledger.tools + ledger.history + ledger.wrappers
        == ledger.tokens
    )


def test_what_sections_leave_is_room_for_messages() -> None:
    chat = [each for n in range(40) for each in (cw.user(f"question {n}"), cw.assistant("yes"))]
    chat.append(cw.user("and now?"))

    def kept(text: str) -> int:
        recipe = Recipe(system=(Instructions(text, budget=200),))
        context = recipe.build(chat, model="gpt-4o", budget=400)
        return len(list(context.decisions.kept()))

    assert kept("Be kind.") > kept("word " * 200) >= kept("word " * 5_000) > 0


@pytest.mark.parametrize("share", [-1, 1.5, 0.0, "half"])
def test_a_share_is_tokens_or_a_fraction(share: object) -> None:
    section = {"type": "instructions", "text": "Be kind.", "budget": share}
    with pytest.raises(ParseError, match=r"system\[0\].budget cannot be "):
        recipes.read({"system": [section]})


def test_a_recipe_file_has_fractions() -> None:
    section = {"type": "instructions", "text": "Be kind.", "budget": 0.25}
    recipe = recipes.read({"system": [section]})
    assert msgspec.to_builtins(recipe.system[0]) == section


def test_a_section_that_writes_no_text_is_said() -> None:
    class Wrong(Section):
        def write(self, moment: SectionInput) -> str | None:
            return ["not text"]  # pyright: ignore[reportReturnType]

    context = cw.Recipe(system=["Be kind.", Wrong()]).build([cw.user("hi")], model="gpt-4o")
    lost = [change for change in context.changes if change.code == "loss.section"]
    assert [change.path for change in lost] == ["Wrong[1]"]
    assert "must write text, not ['not text']" in lost[0].reason
