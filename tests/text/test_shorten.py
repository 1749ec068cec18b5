"""Texts without their middle: within the length, between graphemes, JSON still JSON."""

import json

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.context.fitting.shorten import cut_to, longest_text
from contextwright.text.shorten import SHORTEST, shortened

FAMILY = "👩‍👩‍👧‍👦"
letters = st.sampled_from(("a", " ", "й", "e\u0301", FAMILY, "🇺🇦", "\n", "字", "\r\n"))
texts = st.lists(letters, max_size=400).map("".join)
lengths = st.integers(0, 500)
MARK = regex.compile(r"\n\[… ([\d,]+) characters left out …\]\n")


@given(texts, lengths)
def test_a_text_keeps_its_beginning_and_its_end(text: str, longest: int) -> None:
    short = shortened(text, longest)
    assert len(short) <= max(longest, SHORTEST)
    if len(text) <= max(longest, SHORTEST):
        assert short == text
        return
    (mark,) = MARK.finditer(short)
    head, tail = short[: mark.start()], short[mark.end() :]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert int(mark[1].replace(",", "")) == len(text) - len(head) - len(tail)
    borders = {0, *(grapheme.end() for grapheme in regex.finditer(r"\X", text))}
    assert len(head) in borders
    assert len(text) - len(tail) in borders


words = st.integers(0, 90).map(lambda length: ("ab 字" * 30)[:length])
json_values = st.recursive(
    st.one_of(st.none(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), words),
    lambda inner: st.lists(inner, max_size=9) | st.dictionaries(words, inner, max_size=9),
    max_leaves=20,
)


@given(st.lists(json_values, max_size=9) | st.dictionaries(words, json_values, max_size=9), lengths)
def test_json_stays_json_of_its_kind(value: object, longest: int) -> None:
    text = json.dumps(value, ensure_ascii=False)
    short = shortened(text, longest)
    assert len(short) <= max(longest, SHORTEST)
    if len(text) > max(longest, SHORTEST):
        assert type(json.loads(short)) is type(value)


@pytest.mark.parametrize(
    ("text", "longest", "short"),
    [
        ("a" * 100, 100, "a" * 100),
        ("a" * 60 + "z" * 60, 80, "a" * 29 + "\n[… 71 characters left out …]\n" + "z" * 20),
        (
            '{"rows": [' + "1, " * 99 + '1], "n": 100}',
            80,
            '{"rows":[1,1,1,1,1,1,"… 90 more …",1,1,1,1],"n":100}',
        ),
        ('{"text": "' + "ab" * 99 + '"}', 70, f'{{"text":"{"ab" * 15}a…{"ab" * 10}"}}'),
        ("[not json" + "!" * 99, 70, None),
        (" " * 99 + "x", 70, None),
        ("{" * 5_000, 90, None),
        ('["' + "\\ud800" * 40 + '"]', 90, None),
    ],
)
def test_examples(text: str, longest: int, short: str | None) -> None:
    assert len(shortened(text, longest)) <= longest
    if short is not None:
        assert shortened(text, longest) == short


def test_a_long_text_takes_linear_time() -> None:
    assert len(shortened(FAMILY * 300_000, 2_000)) <= 2_000
    assert len(shortened(json.dumps([["x" * 50]] * 20_000), 2_000)) <= 2_000


def test_messages_are_cut_in_their_texts_and_results() -> None:
    rows = {"rows": [{"id": number, "title": "t" * 20} for number in range(50)]}
    message = cw.Message(
        "user",
        (
            cw.ToolResult("a", "r" * 500),
            cw.ToolResult("b", rows),
            cw.ToolResult("c", (cw.Text("p" * 500), cw.Media("image", url="https://x/y"))),
            cw.Text("short"),
            cw.ToolCall("t", {"q": "q" * 500}),
        ),
    )
    short = cut_to(message, 200)
    assert longest_text(message) > 500
    assert longest_text(short) <= 200
    assert isinstance(short.results[1].content, dict)
    assert short.parts[3:] == message.parts[3:]
    assert cut_to(short, 200) is short
    assert cut_to(cw.system("s" * 500), 100) == cw.system("s" * 500)
