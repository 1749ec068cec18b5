"""Digests: informative sentences, in order and within a limit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextwright.text.excerpts import Line, Sentence, digest, is_new, sentences_of
from samples.hostile import OWN

WORDS = st.sampled_from(
    [
        "soup",
        "the",
        "a",
        "train",
        "Kyiv",
        "21",
        "суп",
        "汤很好",
        "。",
        "!",
        ".",
        "…",
        "\n",
        "👩‍👧",
        *OWN,
    ]
)
TEXTS = st.lists(WORDS, max_size=30).map(" ".join)
LINES = st.lists(st.tuples(st.sampled_from(["Ada", "Bo"]), TEXTS), max_size=20).map(
    lambda said: [Line(number, who, text) for number, (who, text) in enumerate(said, 1)]
)


def words(text: str) -> str:
    return "".join(text.replace("…", "").split())


@given(LINES, st.integers(0, 2_000))
def test_what_it_says_was_said_and_fits(lines: list[Line], longest: int) -> None:
    found = digest(lines, longest)
    assert sum(line.size for line in found) <= longest
    assert [line.number for line in found] == sorted({line.number for line in found})
    for line in found:
        source = lines[line.number - 1]
        assert line.speaker == source.speaker
        assert "\n" not in line.text
        assert line.text
        for piece in line.text.split("…"):
            assert words(piece) in words(source.text)


@given(LINES, st.integers(0, 2_000))
def test_it_is_pure_and_a_digest_of_itself(lines: list[Line], longest: int) -> None:
    found = digest(lines, longest)
    assert digest(lines, longest) == found
    assert digest(found, longest) == found


@given(TEXTS)
def test_sentences_hold_all_words_in_order(text: str) -> None:
    sentences = list(sentences_of(text))
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(sentence == " ".join(sentence.split()) != "" for sentence in sentences)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n ", []),
        ("No end at all", ["No end at all"]),
        ("I live in Kyiv. It is cold here!", ["I live in Kyiv.", "It is cold here!"]),
        ("Ask Dr. Smith about the soup.", ["Ask Dr. Smith about the soup."]),
        ("Version 3.11 is out. Really?", ["Version 3.11 is out.", "Really?"]),
        ('She said "I never did." Then she left.', ['She said "I never did."', "Then she left."]),
        ("Я живу в Києві. А ти де живеш?", ["Я живу в Києві.", "А ти де живеш?"]),
        (
            "我们明天下午三点在车站见面。你会带上那本书吗？好。",
            ["我们明天下午三点在车站见面。", "你会带上那本书吗？好。"],
        ),
        ("- one thing to do\n- another thing", ["- one thing to do", "- another thing"]),
        ("And so it goes… and goes on (or not).", ["And so it goes…", "and goes on (or not)."]),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert list(sentences_of(text)) == sentences


def chat() -> list[Line]:
    """Small talk with three things worth knowing, each in another part of it."""
    talk = ["Hello, how are you today?", "I am fine, and how are you?", "It was nice, I think so."]
    said = [talk[number % 3] for number in range(40)]
    said[2] = "It was nice, I think so. My daughter Olena is allergic to hazelnuts."
    said[21] = "The invoice 4711 was paid by Bohdan in March."
    said[37] = "We moved the launch to the Lviv warehouse."
    return [Line(number, "Ada", text, "2024-05-01") for number, text in enumerate(said, 1)]


def test_it_picks_what_is_rare_from_everywhere() -> None:
    assert digest(chat(), 240) == [
        Line(3, "Ada", "My daughter Olena is allergic to hazelnuts.", "2024-05-01"),
        Line(22, "Ada", "The invoice 4711 was paid by Bohdan in March.", "2024-05-01"),
        Line(38, "Ada", "We moved the launch to the Lviv warehouse.", "2024-05-01"),
    ]


def test_nothing_is_said_twice() -> None:
    lines = [Line(n, "Ada", "The invoice 4711 was paid by Bohdan in March.") for n in range(1, 50)]
    assert len(digest(lines, 1_000)) == 1


def test_a_digest_grows_without_its_sources() -> None:
    lines = chat()
    found: list[Line] = []
    for start in range(0, len(lines), 10):
        found = digest([*found, *lines[start : start + 10]], 240)
    assert {3, 22, 38} <= {line.number for line in found}


@pytest.mark.parametrize(
    ("terms", "told", "expected"),
    [
        ({"soup"}, set[str](), True),
        ({"soup", "opera"}, {"soup"}, True),
        ({"soup"}, {"soup"}, False),
        ({"the"}, set[str](), False),
        (set[str](), set[str](), False),
    ],
)
def test_what_is_new(terms: set[str], told: set[str], expected: bool) -> None:
    """A sentence without a weighty word says nothing new."""
    weights = {"soup": 1.0, "opera": 1.0, "the": 0.0}
    assert is_new(Sentence(0, 0, "words", terms, terms), told, weights) is expected
