"""Aya's array: reading, writing, checking."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from samples.formats.aya import NOON, back, codes, did, entry, said
from samples.systems import LUNCH
from strategies.messages import json_values

DEEP: Any = json.loads("[" * 150 + "]" * 150)


def problems(data: Any, level: str = "error") -> list[tuple[str, str]]:
    return [(found.code, found.path) for found in cw.check(data, "aya") if found.level == level]


# --- the array comes back --------------------------------------------------------------------


def test_the_documents_example_comes_back_byte_for_byte() -> None:
    """AYA-1, AYA-8, AYA-9, AYA-12."""
    conversation = cw.parse(json.loads(LUNCH), "aya", strict=True)
    rendered = cw.render(conversation, "aya")
    assert json.dumps(rendered.payload, indent=2, ensure_ascii=False) == LUNCH
    assert (conversation.changes, rendered.changes) == ((), ())
    assert cw.check(rendered.payload, "aya") == []
    assert [list(one) for one in rendered.payload] == [
        ["index", "turn", "timestamp", "role", "content"]
    ] * 4


def test_what_the_example_says() -> None:
    conversation = cw.parse(json.loads(LUNCH), "aya")
    assert conversation.reply_tools == {"postMessage": "text", "finishRequest": None}
    assert [message.role for message in conversation.messages] == [
        "system",
        "user",
        "assistant",
        "assistant",
    ]
    assert [message.turn for message in conversation.messages] == [0, 0, 1, 1]
    assert conversation.messages[1].author == cw.Author("U1234546")
    assert conversation.messages[2].parts == (
        cw.Thinking("Checking for context about dietary preferences", origin="aya"),
        cw.ToolCall("getThreadHistory", {"ascending": False}, "call_2"),
    )


@pytest.mark.parametrize(
    "data",
    [
        pytest.param([], id="nothing"),
        pytest.param([entry(0, "system", "")], id="AYA-4 empty content is content"),
        pytest.param([did(0, "finishRequest", summary="ok", clearCache=True)], id="AYA-9 end mark"),
        pytest.param(
            [did(0, "createEmojiVote", text="Lunch?", options=["a"])],
            id="AYA-10 text is an argument",
        ),
        pytest.param([entry(0, "assistant", {"toolCall": "x"})], id="AYA-11 no reasoning"),
        pytest.param(
            [entry(0, "assistant", {"toolCall": "x", "reasoning": ""})], id="AYA-11 empty reasoning"
        ),
        pytest.param(
            [
                entry(0, "system", "a"),
                said(1),
                did(2),
                entry(3, "system", "be brief"),
                said(4, "again"),
            ],
            id="AYA-14 system anywhere",
        ),
        pytest.param(
            [entry(0, "assistant", {"text": "words alone", "reasoning": "r", "mood": 1})],
            id="AYA-30",
        ),
        pytest.param([entry(0, "assistant", {})], id="nothing said"),
        pytest.param(
            [entry(0, "system", {"type": "conversation_stats", "n": 3})], id="AYA-6 stats"
        ),
        pytest.param(
            [entry(0, "user", {"userid": "<@U1|al>", "text": "x", "files": [1]}, thread="T")],
            id="extra",
        ),
        pytest.param(
            [entry(0, "assistant", {"toolCall": "x", "arguments": {"a": 1}})], id="AYA-10 nested"
        ),
        pytest.param(
            [entry(0, "assistant", {"toolCall": "x", "a": 1, "result": [1, None]})], id="a result"
        ),
        pytest.param(
            [entry(0, "assistant", {"toolCall": "x", "result": "no", "is_error": True})],
            id="an error",
        ),
        pytest.param(
            [entry(0, "assistant", {"toolCall": "x", "result": "ok", "is_error": False})],
            id="no error, and it says so",
        ),
        pytest.param([{**said(0), "timestamp": "2016-12-31t23:59:60z"}], id="AYA-13 a leap second"),
        pytest.param(
            [did(0, "postMessage", text="hi", result="an argument")],
            id="reply tools have no result",
        ),
        pytest.param(
            [{**said(0), "timestamp": "2023-04-04T12:33:10.5+02:00"}], id="AYA-13 spelling"
        ),
        pytest.param(
            [{**said(0), "timestamp": "2023-04-04T12:33:10.123456789Z"}], id="AYA-13 nanoseconds"
        ),
        pytest.param([{**said(0), "turn": 7}, {**said(1), "turn": 3}], id="AYA-12 never recounted"),
    ],
)
def test_comes_back_as_it_was(data: Any) -> None:
    again = cw.convert(data, "aya", "aya")
    assert (again.payload, again.changes) == (data, ())


def test_nobody_stays_unknown() -> None:
    """AYA-7: the id that stands for no id is no person."""
    conversation = cw.parse([said(userid="<@unknown>")], "aya")
    assert conversation.messages[0].author is None
    assert back([said(userid="<@unknown>")]) == [said(userid="<@unknown>")]


# --- what is repaired ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "expected", "code"),
    [
        pytest.param(
            [said(1, "b"), said(0, "a")],
            [said(0, "a"), said(1, "b")],
            "repair.order",
            id="AYA-3 order",
        ),
        pytest.param(
            [said(0, "a"), said(0, "b")],
            [said(0, "a"), said(1, "b")],
            "repair.index",
            id="AYA-3 twice",
        ),
        pytest.param([said(0), said(2)], [said(0), said(1)], "repair.index", id="AYA-3 gap"),
        pytest.param([{**said(), "index": "0"}], [said()], "repair.index", id="AYA-16 index"),
        pytest.param([{**said(), "turn": "0"}], [said()], "repair.turn", id="AYA-16 turn"),
        pytest.param([said(userid="U1")], [said()], "repair.author", id="AYA-7 wrapped"),
        pytest.param([said(userid="<@<@U1>>")], [said()], "repair.author", id="AYA-7 twice"),
        pytest.param(
            [said(userid="<@>")], [said(userid="<@unknown>")], "repair.author", id="AYA-7 no id"
        ),
        pytest.param(
            [entry(0, "user", {"text": "hi"})],
            [said(userid="<@unknown>")],
            "repair.author",
            id="AYA-7 unknown",
        ),
        pytest.param(
            *([entry(0, "user", "hi")], [said(userid="<@unknown>")], "repair.content"),
            id="AYA-7 words",
        ),
        pytest.param(
            [entry(0, "user", {"userid": 7, "text": "hi"})],
            [said(userid="<@7>")],
            "repair.author",
            id="AYA-7 a number",
        ),
        pytest.param(
            [entry(0, "user", {"userid": "<@U1>"})],
            [said(text="")],
            "repair.content",
            id="AYA-7 no text",
        ),
        pytest.param(
            [entry(0, "user", {"userid": "<@U1>", "text": None})],
            [said(text="")],
            "repair.content",
            id="AYA-7 null text",
        ),
        pytest.param(
            [entry(0, "assistant", {"toolCall": "x", "reasoning": None})],
            [entry(0, "assistant", {"toolCall": "x"})],
            "repair.content",
            id="AYA-11 null reasoning",
        ),
        pytest.param(
            [entry(0, "assistant", "hi")],
            [entry(0, "assistant", {"text": "hi"})],
            "repair.content",
            id="AYA-15",
        ),
        pytest.param(
            [{**said(), "timestamp": "1680609600.000200"}],
            [{**said(), "timestamp": "2023-04-04T12:00:00.000200Z"}],
            "repair.timestamp",
            id="AYA-13 Slack",
        ),
        pytest.param(
            [{**said(), "timestamp": 1680609600}],
            [said(0) | {"timestamp": NOON}],
            "repair.timestamp",
            id="AYA-13 seconds",
        ),
        pytest.param(
            [{**said(), "timestamp": "2023-04-04 12:33"}],
            [{**said(), "timestamp": "2023-04-04T12:33:00Z"}],
            "repair.timestamp",
            id="AYA-13 no zone",
        ),
        pytest.param(
            [entry(0, "system", {"any": 1})],
            [entry(0, "system", {"any": 1})],
            "repair.content",
            id="AYA-6 object",
        ),
    ],
)
def test_lenient_reading_repairs_and_says_so(data: Any, expected: Any, code: str) -> None:
    conversation = cw.parse(data, "aya")
    assert code in codes(conversation.changes)
    assert cw.render(conversation, "aya").payload == expected


def test_fields_that_are_missing() -> None:
    """AYA-4: a strict reading names all of them at once, a lenient one fills them in."""
    data = [{"index": 0, "role": "user", "content": {"userid": "<@U1>", "text": "hi"}}]
    with pytest.raises(cw.ParseError) as caught:
        cw.parse(data, "aya", strict=True)
    assert "[0].turn" in str(caught.value)
    assert "[0].timestamp" in str(caught.value)
    rendered = cw.convert(data, "aya", "aya")
    assert rendered.payload == [{**said(), "timestamp": "1970-01-01T00:00:00Z"}]
    assert {"repair.turn", "loss.timestamp", "invent.timestamp"} <= set(codes(rendered.changes))


@pytest.mark.parametrize(
    ("data", "place"),
    [
        pytest.param({"messages": []}, "", id="no array"),
        pytest.param("text", "", id="text"),
        pytest.param([said(0), 7], "[1]", id="no object"),
        pytest.param([entry(0, "tool", "x")], "'tool'", id="AYA-5 tool"),
        pytest.param([said(0), entry(1, "function", "x")], "[1].role", id="AYA-5 function"),
        pytest.param([entry(0, "User", "x")], "'User'", id="AYA-5 case"),
        pytest.param([entry(0, "user", ["x"])], "[0].content", id="AYA-15 list"),
        pytest.param([entry(0, "user", 7)], "[0].content", id="AYA-15 number"),
        pytest.param(
            [entry(0, "assistant", {"toolCall": 7})], "[0].content.toolCall", id="no name"
        ),
    ],
)
def test_what_cannot_be_read_is_an_error(data: Any, place: str) -> None:
    for strict in (False, True):
        with pytest.raises(cw.ParseError) as caught:
            cw.parse(data, "aya", strict=strict)
        assert place in str(caught.value)


@pytest.mark.parametrize(
    ("data", "place"),
    [
        pytest.param([said(1), said(0)], "[1].index", id="AYA-3 order"),
        pytest.param([said(0), said(0)], "[1].index", id="AYA-3 twice"),
        pytest.param(
            [entry(0, "system", {"type": "conversation_stats"})], "[0].content", id="AYA-6 stats"
        ),
        pytest.param([entry(0, "system", {"any": 1})], "[0].content", id="AYA-6 object"),
        pytest.param(
            [{**said(), "timestamp": "2023-04-04 12:33"}], "[0].timestamp", id="AYA-13 no zone"
        ),
        pytest.param([{**said(), "turn": "0"}], "[0].turn", id="AYA-16"),
        pytest.param([{**said(), "turn": -1}], "[0].turn", id="AYA-12 negative"),
        pytest.param([said(0), said(2)], "[1].index", id="AYA-3 gap"),
        pytest.param([said(userid="U1")], "[0].content.userid", id="AYA-7 bare id"),
        pytest.param([entry(0, "user", "hi")], "[0].content", id="AYA-7 words"),
        pytest.param([entry(0, "assistant", "hi")], "[0].content", id="AYA-15 words"),
    ],
)
def test_strict_reading_repairs_nothing(data: Any, place: str) -> None:
    assert cw.parse(data, "aya").messages
    with pytest.raises(cw.ParseError) as caught:
        cw.parse(data, "aya", strict=True)
    assert place in str(caught.value)


# --- what is wrong ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "errors", "warnings"),
    [
        pytest.param([said(0), did(1)], [], [], id="nothing"),
        pytest.param({}, [("aya.array", "")], [], id="no array"),
        pytest.param([1], [("aya.entry", "[0]")], [], id="no object"),
        pytest.param(
            [said(1), said(0)],
            [("aya.order", "[1].index")],
            [("aya.gap", "[0].index")],
            id="AYA-3 order",
        ),
        pytest.param([said(0), said(0)], [("aya.duplicate", "[1].index")], [], id="AYA-3 twice"),
        pytest.param([said(0), said(2)], [], [("aya.gap", "[1].index")], id="AYA-3 gap"),
        pytest.param(
            [said(0), {**said(1), "timestamp": "2023-04-04T11:00:00Z"}],
            [],
            [("aya.time_order", "[1].timestamp")],
            id="AYA-3 time goes back",
        ),
        pytest.param([said(0), said(1)], [], [], id="AYA-3 equal times"),
        pytest.param(
            [{"index": 0, "role": "system", "content": ""}],
            [("aya.required", "[0].turn"), ("aya.required", "[0].timestamp")],
            [],
            id="AYA-4",
        ),
        pytest.param([entry(0, "tool", "x")], [("aya.role", "[0].role")], [], id="AYA-5"),
        pytest.param(
            [entry(0, "system", {"a": 1})], [("aya.content", "[0].content")], [], id="AYA-6"
        ),
        pytest.param(
            [said(userid="U1")], [], [("aya.userid", "[0].content.userid")], id="AYA-7 bare id"
        ),
        pytest.param(
            [entry(0, "user", {"text": 1})],
            [("aya.userid", "[0].content.userid"), ("aya.text", "[0].content.text")],
            [],
            id="AYA-7 no id",
        ),
        pytest.param(
            [entry(0, "assistant", {"toolCall": "postMessage", "reasoning": "r"})],
            [],
            [("aya.text", "[0].content.text")],
            id="AYA-9",
        ),
        pytest.param(
            [
                entry(0, "assistant", {"toolCall": "x"}),
                entry(1, "assistant", {"toolCall": "x", "reasoning": " "}),
            ],
            [],
            [("aya.reasoning", f"[{place}].content.reasoning") for place in (0, 1)],
            id="AYA-11",
        ),
        pytest.param(
            [{**said(0), "turn": 2}, {**said(1), "turn": 1}],
            [],
            [("aya.turn_order", "[1].turn")],
            id="AYA-12",
        ),
        pytest.param([{**said(0), "turn": -1}], [("aya.turn", "[0].turn")], [], id="AYA-12 below"),
        pytest.param(
            [{**said(0), "timestamp": "noon"}],
            [("aya.timestamp", "[0].timestamp")],
            [],
            id="AYA-13",
        ),
        pytest.param(
            [entry(0, "assistant", [])], [("aya.content", "[0].content")], [], id="AYA-15 list"
        ),
        pytest.param(
            [entry(0, "assistant", "x")], [], [("aya.content", "[0].content")], id="AYA-15 words"
        ),
        pytest.param([{**said(0), "turn": "0"}], [("aya.turn", "[0].turn")], [], id="AYA-16"),
        pytest.param(
            [{**said(0), "mood": 1}], [], [("aya.extra", "[0].mood")], id="a field too many"
        ),
        pytest.param(
            [said(text="\ud800")], [("X-surrogate", "[0].content.text")], [], id="half a pair"
        ),
    ],
)
def test_check(data: Any, errors: list[tuple[str, str]], warnings: list[tuple[str, str]]) -> None:
    assert problems(data) == errors
    assert problems(data, "warning") == warnings


CONTENT_FIELDS = "toolCall text userid reasoning result is_error arguments type".split()
entries = st.fixed_dictionaries(
    {},
    optional={
        "index": st.integers(-1, 3) | json_values,
        "turn": st.integers(-1, 3) | json_values,
        "timestamp": st.sampled_from(
            (NOON, "1680609600.0002", "2023-04-04", 5, 1e300, "0001-01-01T00:00:00+14:00")
        )
        | json_values,
        "role": st.sampled_from(("system", "user", "assistant", "tool")),
        "content": st.dictionaries(
            st.sampled_from(CONTENT_FIELDS),
            json_values,
        )
        | json_values,
        "more": json_values,
    },
)


@given(st.lists(entries, max_size=4) | json_values)
def test_any_json_is_read_or_refused(data: Any) -> None:
    cw.check(data, "aya")
    for strict in (False, True):
        try:
            conversation = cw.parse(data, "aya", strict=strict)
        except cw.ParseError:
            continue
        assert not (strict and conversation.changes)
        rendered = cw.render(conversation, "aya")
        again = cw.render(cw.parse(rendered.payload, "aya"), "aya")
        assert (again.payload, again.changes) == (rendered.payload, ())


@pytest.mark.parametrize(("index", "words"), [(2, "index 1 is"), (3, "index 1 to 2 is")])
def test_a_gap_names_what_is_missing(index: int, words: str) -> None:
    (gap,) = cw.check([said(0), said(index)], "aya")
    assert gap.message == f"{words} missing"
