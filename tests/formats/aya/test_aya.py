"""Aya's array: what is read, what is written, what is wrong with it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from samples.systems import LUNCH
from strategies.messages import json_values

NOON = "2023-04-04T12:00:00Z"


DEEP: Any = json.loads("[" * 150 + "]" * 150)


def entry(index: int, role: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {
        "index": index,
        "turn": 0,
        "timestamp": NOON,
        "role": role,
        "content": content,
        **fields,
    }


def said(index: int = 0, text: str = "hi", userid: str = "<@U1>") -> dict[str, Any]:
    return entry(index, "user", {"userid": userid, "text": text})


def did(index: int = 0, tool: str = "search", **arguments: Any) -> dict[str, Any]:
    return entry(index, "assistant", {"toolCall": tool, **arguments, "reasoning": "because"})


def back(data: Any, **options: Any) -> Any:
    return cw.convert(data, "aya", "aya", **options).payload


def codes(changes: Any) -> list[str]:
    return [change.code for change in changes]


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
    assert back(data) == data
    assert [
        change
        for change in cw.convert(data, "aya", "aya").changes
        if change.code.startswith("loss")
    ] == []


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
        pytest.param(
            [entry(0, "user", {"text": "hi"})],
            [said(userid="<@unknown>")],
            "repair.author",
            id="AYA-7 unknown",
        ),
        pytest.param(
            [entry(0, "user", "hi")],
            [said(userid="<@unknown>")],
            "repair.content",
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
            [entry(0, "assistant", {"toolCall": "x"})],
            [],
            [("aya.reasoning", "[0].content.reasoning")],
            id="AYA-11",
        ),
        pytest.param(
            [{**said(0), "turn": 2}, {**said(1), "turn": 1}],
            [],
            [("aya.turn_order", "[1].turn")],
            id="AYA-12",
        ),
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
            st.sampled_from(
                (
                    "toolCall",
                    "text",
                    "userid",
                    "reasoning",
                    "result",
                    "is_error",
                    "arguments",
                    "type",
                )
            ),
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
        rendered = cw.render(conversation, "aya")
        again = cw.render(cw.parse(rendered.payload, "aya"), "aya")
        assert again.payload == rendered.payload


# --- from elsewhere --------------------------------------------------------------------------


def aya(*messages: cw.Message, **options: Any) -> Any:
    return cw.render(messages, "aya", **options)


def test_positions_are_counted_anew_and_the_old_ones_kept() -> None:
    """AYA-2."""
    conversation = cw.parse([said(0, "a"), said(1, "b"), said(2, "c")], "aya")
    kept = (conversation.messages[0], conversation.messages[2])
    assert [one["index"] for one in aya(*kept).payload] == [0, 1]
    assert [message.meta["index"] for message in kept] == [0, 2]


def test_words_are_said_with_post_message() -> None:
    rendered = aya(
        cw.user("hi", author="U1", sent_at=NOON),
        cw.assistant([cw.Thinking("polite"), cw.Text("hello")]),
    )
    assert rendered.payload == [
        said(),
        {**did(1, "postMessage", text="hello"), "turn": 1}
        | {"content": {"toolCall": "postMessage", "text": "hello", "reasoning": "polite"}},
    ]
    assert codes(rendered.changes) == ["invent.timestamp"]


@pytest.mark.parametrize(
    ("author", "userid", "changes"),
    [
        (cw.Author("U1234546"), "<@U1234546>", []),
        (cw.Author("<@U1234546>"), "<@U1234546>", []),
        (cw.Author("U1", "Alice"), "<@U1>", ["loss.author"]),
        (cw.Author(name="Alice"), "<@Alice>", ["repair.author"]),
        (None, "<@unknown>", ["invent.author"]),
    ],
)
def test_speakers(author: cw.Author | None, userid: str, changes: list[str]) -> None:
    """AYA-7."""
    rendered = aya(cw.user("hi", author=author, sent_at=NOON))
    assert rendered.payload == [said(userid=userid)]
    assert codes(rendered.changes) == changes


@pytest.mark.parametrize(
    "arguments",
    [
        {"reasoning": 1},
        {"toolCall": "x"},
        {"result": "x"},
        {"arguments": {"a": 1}},
        {"a": 1, "reasoning": "x"},
    ],
)
def test_arguments_with_the_names_of_fields(arguments: dict[str, Any]) -> None:
    """AYA-10: they stand under `arguments`, and are read from there."""
    message = cw.assistant([cw.Thinking("why"), cw.ToolCall("vote", arguments)], sent_at=NOON)
    rendered = aya(message)
    assert rendered.payload[0]["content"] == {
        "toolCall": "vote",
        "arguments": arguments,
        "reasoning": "why",
    }
    assert codes(rendered.changes) == ["repair.param_collision"]
    parsed = cw.parse(rendered.payload, "aya")
    assert parsed.messages[0].calls[0].arguments == arguments
    with pytest.raises(cw.errors.InvalidPayload) as caught:
        aya(message, repair=False)
    assert caught.value.problems[0].code == "aya.param_collision"


EXCHANGE = (
    cw.user("hi", author="U1", sent_at=NOON),
    cw.assistant([cw.ToolCall("a", {"x": 1}, "1"), cw.ToolCall("b", {}, "2")], sent_at=NOON),
    cw.tool_result("2", {"n": 1}),
    cw.tool_result("1", "broken", is_error=True),
)


def test_results_have_no_place() -> None:
    rendered = aya(*EXCHANGE)
    assert [one["content"] for one in rendered.payload[1:]] == [
        {"toolCall": "a", "x": 1},
        {"toolCall": "b"},
    ]
    assert sorted(codes(rendered.changes)) == [
        "loss.tool_result",
        "loss.tool_result",
        "repair.split",
    ]


def test_results_are_kept_when_asked_for() -> None:
    rendered = aya(*EXCHANGE, include_results=True)
    assert [one["content"] for one in rendered.payload[1:]] == [
        {"toolCall": "a", "x": 1, "result": "broken", "is_error": True},
        {"toolCall": "b", "result": {"n": 1}},
    ]
    assert codes(rendered.changes) == ["repair.split"]
    parsed = cw.parse(rendered.payload, "aya")
    assert [result.content for message in parsed.messages for result in message.results] == [
        "broken",
        {"n": 1},
    ]
    assert cw.render(parsed, "aya").payload == rendered.payload


@pytest.mark.parametrize(
    ("rule", "turns"),
    [
        ("speaker", [0, 0, 1, 1, 2, 2, 3]),
        ("exchange", [0, 0, 0, 0, 1, 1, 1]),
        ("user", [0, 1, 1, 1, 2, 2, 2]),
    ],
)
def test_turns(rule: str, turns: list[int]) -> None:
    """AYA-12: three ways to count; the document's example follows `speaker`, the default."""
    talk = (
        cw.system("s"),
        cw.user("a"),
        cw.assistant("b"),
        cw.assistant("c"),
        cw.user("d"),
        cw.system("t"),
        cw.assistant("e"),
    )
    assert [one["turn"] for one in aya(*talk, turn_rule=rule).payload] == turns
    assert [one["turn"] for one in aya(*talk).payload] == [0, 0, 1, 1, 2, 2, 3]


def test_imported_turns_are_counted_anew_only_when_asked() -> None:
    data = [{**said(0), "turn": 5}, {**did(1), "turn": 5}]
    assert [one["turn"] for one in back(data)] == [5, 5]
    rendered = cw.convert(data, "aya", "aya", turn_rule="speaker")
    assert [one["turn"] for one in rendered.payload] == [0, 1]
    assert codes(rendered.changes) == ["repair.turn", "repair.turn"]


def test_times_are_carried_never_taken_from_a_clock() -> None:
    rendered = aya(
        cw.system("s"),
        cw.user("a", author="U1", sent_at=NOON),
        cw.assistant("b"),
        cw.user("c", author="U1"),
    )
    assert [one["timestamp"] for one in rendered.payload] == [NOON] * 4
    assert codes(rendered.changes) == ["invent.timestamp"]


def test_what_else_stays_behind_is_said() -> None:
    rendered = aya(
        cw.user(
            ["see", cw.Media("image", "image/png", "aGk=")],
            author="U1",
            sent_at=NOON,
            reply_to=cw.Reply("7"),
        ),
        cw.assistant(
            [cw.Thinking("", "sig", "anthropic", redacted=True), cw.Text("ok")], sent_at=NOON
        ),
        cw.user("psst", visibility="hidden"),
    )
    assert [one["content"].get("text") for one in rendered.payload] == [
        "see\n[image: image/png]",
        "ok",
    ]
    assert sorted(codes(rendered.changes)) == [
        "loss.envelope",
        "loss.hidden",
        "loss.media",
        "loss.thinking",
    ]


def test_a_message_becomes_entries() -> None:
    rendered = aya(
        cw.assistant(
            [
                cw.Text("a"),
                cw.Opaque("aya", {"text": "own"}),
                cw.ToolResult("x", "nobody asked"),
                cw.Thinking("after all"),
            ],
            sent_at="1680609600",
        ),
        cw.assistant(cw.Thinking("nothing came of it")),
        cw.assistant([]),
        cw.assistant(cw.ToolCall("t", {"is_error": 1}, "1"), sent_at=NOON),
        cw.tool_result("1", "ok"),
        include_results=True,
    )
    assert rendered.payload == [
        entry(0, "assistant", {"toolCall": "postMessage", "text": "a"}),
        entry(1, "assistant", {"text": "own", "reasoning": "after all"}),
        entry(2, "assistant", {"toolCall": "t", "arguments": {"is_error": 1}, "result": "ok"}),
    ]
    assert sorted(codes(rendered.changes)) == [
        "loss.blank",
        "loss.thinking",
        "loss.tool_result",
        "repair.param_collision",
        "repair.split",
        "repair.timestamp",
    ]


def test_settings_and_tools_have_no_place() -> None:
    request = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 9,
        "stream": True,
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"name": "t", "input_schema": {"type": "object"}}],
    }
    lost = {
        (change.code, change.path)
        for change in cw.convert(request, "anthropic", "aya").changes
        if change.code.startswith("loss.")
    }
    assert lost == {
        ("loss.tool", "tools"),
        ("loss.setting", "max_tokens"),
        ("loss.setting", "stream"),
    }


def test_thinking_is_dropped_when_asked() -> None:
    rendered = cw.convert(json.loads(LUNCH), "aya", "aya", thinking="drop")
    assert [one["content"].get("reasoning") for one in rendered.payload[2:]] == [None, None]
    assert codes(rendered.changes) == ["loss.thinking", "loss.thinking"]


@pytest.mark.parametrize(
    "target", ["anthropic", "gemini", "openai-chat", "openai-responses", "forge", "port42"]
)
def test_the_example_is_legal_everywhere(target: str) -> None:
    """AYA-14, tricky case 43."""
    data = json.loads(LUNCH)
    data.insert(3, entry(9, "system", "Be brief."))
    for index, one in enumerate(data):
        one["index"] = index
    rendered = cw.convert(data, "aya", target)
    assert [
        problem for problem in cw.check(rendered.payload, target) if problem.level == "error"
    ] == []
    assert "Here are some lunch suggestions" in str(rendered.payload)
    assert "postMessage" not in str(rendered.payload)
