"""The message model: what people pass, and what they get."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

import contextwright as cw
from contextwright.messages.times import read_time
from contextwright.text.graphemes import cut

PICTURE = cw.Media.from_bytes("image", b"\x89PNG", "image/png", name="a.png")


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (cw.user("hi"), cw.Message("user", (cw.Text("hi"),))),
        (cw.user(["see", PICTURE]), cw.Message("user", (cw.Text("see"), PICTURE))),
        (cw.user(PICTURE), cw.Message("user", (PICTURE,))),
        (cw.user("hi", author="U1"), cw.Message("user", (cw.Text("hi"),), cw.Author(id="U1"))),
        (
            cw.assistant(["so", cw.ToolCall("f", {"a": 1}, id="c1")]),
            cw.Message("assistant", (cw.Text("so"), cw.ToolCall("f", {"a": 1}, "c1"))),
        ),
        (cw.tool_result("c1", "ok"), cw.Message("tool", (cw.ToolResult("c1", "ok"),))),
        (cw.tool_result("c1", {"a": 1}), cw.Message("tool", (cw.ToolResult("c1", {"a": 1}),))),
        (cw.tool_result("c1", [1, 2]), cw.Message("tool", (cw.ToolResult("c1", "[1,2]"),))),
        (cw.tool_result("c1", None), cw.Message("tool", (cw.ToolResult("c1", "null"),))),
        (cw.tool_result("c1", PICTURE), cw.Message("tool", (cw.ToolResult("c1", (PICTURE,)),))),
        (
            cw.user("hi", sent_at=datetime(2023, 4, 4, 12, 33, tzinfo=UTC)),
            cw.Message("user", (cw.Text("hi"),), sent_at="2023-04-04T12:33:00+00:00"),
        ),
    ],
)
def test_helpers_take_what_people_pass(made: cw.Message, expected: cw.Message) -> None:
    assert made == expected


@pytest.mark.parametrize("content", [5, None, {"text": "hi"}, [5], object()])
def test_helpers_say_what_they_cannot_take(content: object) -> None:
    with pytest.raises(cw.UsageError, match="content cannot be"):
        cw.user(content)  # pyright: ignore


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), {1: 2}, object(), b"x", [{"a": float("-inf")}]]
)
def test_arguments_are_json(value: object) -> None:
    with pytest.raises(cw.UsageError):
        cw.ToolCall("f", {"a": value})
    with pytest.raises(cw.UsageError):
        cw.ToolResult("a", {"a": value})


def test_arguments_have_a_depth() -> None:
    deep: dict[str, object] = {}
    for _ in range(100):
        deep = {"a": deep}
    assert cw.ToolCall("f", deep).arguments == deep
    for levels in (1, 100_000):
        for _ in range(levels):
            deep = {"a": deep}
        with pytest.raises(cw.UsageError, match="nested too deeply"):
            cw.ToolCall("f", deep)


@pytest.mark.parametrize(
    ("text", "arguments", "raw"),
    [
        ('{"a":1}', {"a": 1}, None),
        ('{"a": 1}', {"a": 1}, '{"a": 1}'),
        ("", {}, None),
        ("  ", {}, None),
        ('{"a": 1', {"_raw": '{"a": 1'}, '{"a": 1'),
        ("[1,2]", {"_raw": "[1,2]"}, "[1,2]"),
        ('"x"', {"_raw": '"x"'}, '"x"'),
        ("\ud83d", {"_raw": "\ud83d"}, "\ud83d"),
    ],
)
def test_arguments_from_json(text: str, arguments: dict[str, object], raw: str | None) -> None:
    """Tricky 29: what is no object is wrapped, and keeps its own spelling."""
    call = cw.ToolCall.from_json("f", text, id="c")
    assert (call.arguments, call.raw) == (arguments, raw)
    assert call.json == (text if text.strip() else "{}")


@pytest.mark.parametrize(
    ("spelling", "moment"),
    [
        ("2023-04-04T12:33:00Z", datetime(2023, 4, 4, 12, 33, tzinfo=UTC)),
        ("2023-04-04T14:33:00+02:00", datetime(2023, 4, 4, 12, 33, tzinfo=UTC)),
        ("2023-04-04 12:33", datetime(2023, 4, 4, 12, 33, tzinfo=UTC)),
        ("2023-04-04t12:33:00z", datetime(2023, 4, 4, 12, 33, tzinfo=UTC)),
        ("2016-12-31T23:59:60.5Z", datetime(2016, 12, 31, 23, 59, 59, 500_000, tzinfo=UTC)),
        ("2016-12-31T23:60:00Z", None),
        ("2016-12-31T24:00:00Z", datetime(2017, 1, 1, tzinfo=UTC)),
        ("2016-12-31 24:00+02:00", datetime(2016, 12, 31, 22, tzinfo=UTC)),
        ("20161231T240000.000", datetime(2017, 1, 1, tzinfo=UTC)),
        ("2016-12-31T24:00:01Z", None),
        ("2016-12-31T24:30Z", None),
        ("9999-12-31T24:00:00Z", None),
        ("24:00:00Z", None),
        ("1680611590.000200", datetime(2023, 4, 4, 12, 33, 10, 200, tzinfo=UTC)),
        ("yesterday", None),
        ("1e999", None),
    ],
)
def test_times(spelling: str, moment: datetime | None) -> None:
    assert read_time(spelling) == moment
    assert cw.user("x", sent_at=spelling).time == moment
    assert cw.user("x", sent_at=spelling).sent_at == spelling


FAMILY = "👩‍👩‍👧‍👦"


@pytest.mark.parametrize(
    ("text", "longest", "expected"),
    [
        ("hello", 3, "hel"),
        ("hello", 9, "hello"),
        (f"ab{FAMILY}", 4, "ab"),
        (f"ab{FAMILY}c", len(FAMILY) + 2, f"ab{FAMILY}"),
        ("e\u0301a", 1, ""),
        ("🇺🇦🇺🇦", 3, "🇺🇦"),
        ("a\r\nb", 2, "a"),
    ],
)
def test_cutting_never_splits_a_letter(text: str, longest: int, expected: str) -> None:
    assert cut(text, longest) == expected


LETTERS = ["a", "b ", "-`", "e\u0301", FAMILY, "🇺🇦", "가", "\u1112\u1161\u11ab", "\r\n"]


@given(st.lists(st.sampled_from(LETTERS)).map("".join), st.integers(0, 40))
def test_cutting_gives_whole_letters(text: str, longest: int) -> None:
    import regex

    letters: list[str] = regex.findall(r"\X", text)
    kept = cut(text, longest)
    assert len(kept) <= longest
    assert letters[: len(regex.findall(r"\X", kept))] == regex.findall(r"\X", kept)
    assert (
        len(kept) == len(text)
        or len(kept) + len(letters[len(regex.findall(r"\X", kept))]) > longest
    )


def test_public_values_are_frozen() -> None:
    public = [getattr(cw, name) for name in dir(cw)]
    values = [kind for kind in public if isinstance(kind, type) and issubclass(kind, Struct)]
    assert len(values) > 20
    assert [kind for kind in values if not kind.__struct_config__.frozen] == []
