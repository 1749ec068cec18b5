"""Passages of long messages."""

from __future__ import annotations

from itertools import pairwise
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.recall.lines import MAX_TEXT_CHARS
from contextwright.recall.packing import Packing, RecallHit, default_price
from contextwright.recall.passages import (
    MAX_CHARS,
    Excerpt,
    is_long,
    passage_log_odds,
    passages_of,
)
from samples.recall import LONG, ranked, talk

LINES = st.sampled_from(
    (
        "",
        " ",
        "\r\n",
        "```",
        "~~~",
        "# A",
        "- one",
        "2) two",
        "word " * 30,
        "x" * 1_700,
        "Yes. No. ",
    )
) | st.text(max_size=40)
TEXTS = st.lists(LINES, max_size=40).map("\n".join)


@given(TEXTS)
def test_passages_are_all_of_the_text(text: str) -> None:
    passages = passages_of(text)
    assert all(0 < end - start <= MAX_CHARS for start, end in passages)
    assert all(end == start for (_, end), (start, _) in pairwise(passages))
    assert not passages or passages[0][0] == 0
    assert not text[passages[-1][1] if passages else 0 : MAX_TEXT_CHARS].strip()


FENCES = st.sampled_from(("```", "````", "~~~", "~~~~~"))
WRITTEN = st.sampled_from(("", "- one", "# A", "word " * 30, "```word``` and ~~~", "  1. x"))


@st.composite
def blocks_of_code(draw: st.DrawFn) -> str:
    """A block of code, short enough for a passage, that has the fences of others."""
    fence = draw(FENCES)
    others = FENCES.filter(lambda other: not other.startswith(fence))
    inside = (
        others | st.just(f"{fence} python") | st.sampled_from(("", "- x = 1", "# y", "z()" * 40))
    )
    lines = draw(st.lists(inside, max_size=5))
    return "\n".join((f"{fence}{draw(st.sampled_from(('', 'python', ' c++')))}", *lines, fence))


@given(st.lists(st.tuples(st.lists(WRITTEN, max_size=8).map("\n".join), blocks_of_code())))
def test_no_passage_begins_inside_a_block_of_code(parts: list[tuple[str, str]]) -> None:
    inside, text = set[int](), ""
    for words, code in parts:
        text += f"{words}\n"
        inside |= set(range(len(text) + 1, len(text) + len(code)))
        text += f"{code}\n"
    assert inside.isdisjoint(start for start, _ in passages_of(text))


@given(TEXTS, st.data())
def test_an_excerpt_has_its_passages_and_marks_what_it_lacks(
    text: str, data: st.DataObject
) -> None:
    passages = tuple(passages_of(text))
    if not passages:
        return
    numbers = data.draw(st.sets(st.integers(1, len(passages)), min_size=1))
    excerpt = Excerpt(passages, tuple(sorted(numbers)))
    shown = excerpt.of(text)
    for start, end in excerpt.spans:
        assert text[start:end].strip() in shown
    gaps = len(excerpt.spans) - 1 + (1 not in numbers) + (len(passages) not in numbers)
    assert shown.count("[…]") - sum(text[a:b].count("[…]") for a, b in excerpt.spans) == gaps
    assert excerpt.is_whole == (gaps == 0)
    one, *others = (Excerpt(passages, (number,)) for number in sorted(numbers))
    for other in others:
        one = other.joined(one)
    assert one == excerpt


def test_messages_of_more_than_600_characters_are_recalled_in_passages() -> None:
    assert [is_long(size) for size in (0, 600, 601)] == [False, False, True]


@pytest.mark.parametrize(
    ("numbers", "place"),
    [
        ((2,), "part 2 of 9"),
        ((2, 3), "parts 2-3 of 9"),
        ((1, 2, 3, 5), "parts 1-3 and 5 of 9"),
        ((1, 4, 9), "parts 1 and 4 and 9 of 9"),
    ],
)
def test_the_place_of_an_excerpt(numbers: tuple[int, ...], place: str) -> None:
    passages = tuple((start, start + 10) for start in range(0, 90, 10))
    assert Excerpt(passages, numbers).place == place


def test_paragraphs_code_and_lists_are_passages() -> None:
    starts = [LONG[start : start + 12] for start, _ in passages_of(LONG)]
    assert starts == ["I'm trying t", "Also, the sp", "- step 0: wa"]


def test_a_passage_with_the_words_of_the_question_is_likelier() -> None:
    messages = talk("Hello", LONG, "Bye")
    question = "Where does the spare key hang?"
    one = next(one for one in ranked(messages, question) if one.number == 2)
    passages = passages_of(LONG)
    odds = passage_log_odds(one, LONG, passages, {"spar": 0.4, "key": 0.4, "hang": 0.2}, {})
    assert max(odds) == odds[1]
    assert odds[0] > odds[2]  # the first says what it is about
    assert sum(1 / (1 + exp(-each)) for each in odds) == pytest.approx(one.fit)


def test_passages_of_a_message_are_one_hit() -> None:
    passages = tuple(passages_of(LONG))
    message = cw.user(LONG)
    packing = Packing(10_000, default_price(len), limit=1)
    for number in (2, 1):
        excerpt = Excerpt(passages, (number,))
        packing.add(RecallHit("a", 7, message, 0.5, (), 0, excerpt=excerpt))
    (item,) = packing.result("?", 10_000, has_meaning=False)
    assert item.excerpt == Excerpt(passages, (1, 2))
    assert item.line.startswith("user, parts 1-2 of 3: I'm trying")
    assert item.line.endswith("that place. […]")
    assert item.tokens == default_price(len).of_hit(item) == 10_000 - packing.tokens_left
    packing.add(RecallHit("a", 7, message, 0.5, (), 0, excerpt=Excerpt(passages, (3,))))
    (item,) = packing.result("?", 10_000, has_meaning=False)
    assert item.excerpt is None
    assert item.shown is message
    assert item.tokens == default_price(len).of_hit(item) == 10_000 - packing.tokens_left
    packing.add(RecallHit("a", 8, cw.user("beyond the limit"), 0.5, (), 0))
    assert len(packing.items) == 1
