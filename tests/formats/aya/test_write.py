"""Other formats' histories, written as Aya's."""

import json
from itertools import combinations
from typing import Any

import pytest

import contextwright as cw
from samples.formats.aya import NOON, back, codes, did, entry, said
from samples.systems import LUNCH

# --- from elsewhere --------------------------------------------------------------------------


EPOCH = "1970-01-01T00:00:00Z"


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
        {**did(1, "postMessage", text="hello"), "turn": 1, "timestamp": EPOCH}
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


def test_an_author_who_is_no_user_is_lost() -> None:
    bot = cw.Author("B1")
    rendered = aya(
        cw.user("hi", author=bot, sent_at=NOON),
        cw.assistant("hello", author=bot, sent_at=NOON),
        cw.assistant("again", author=bot, sent_at=NOON),
    )
    assert [str(change) for change in rendered.changes] == [
        "loss.author messages[1].author: aya names only users"
    ]


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
    again = cw.render(parsed, "aya", repair=False)
    assert (again.payload, again.changes) == (rendered.payload, ())
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


ARGUMENTS = ["text", "result", "is_error", "reasoning", "toolCall", "arguments"]


@pytest.mark.parametrize("tool", ["lookup", "postMessage", "finishRequest"])
@pytest.mark.parametrize("is_error", [False, True])
def test_calls_and_results_come_back_or_are_named_as_lost(tool: str, is_error: bool) -> None:
    """Whatever an argument is called, also where it could be taken for the result."""
    for names in [(), *combinations(ARGUMENTS, 1), *combinations(ARGUMENTS, 2)]:
        arguments = {name: {"of": name} if name == "arguments" else name for name in names}
        call = cw.ToolCall(tool, arguments, "1")
        result = cw.tool_result("1", "ok", is_error=is_error)
        rendered = aya(cw.assistant(call), result, include_results=True)
        read = cw.parse(rendered.payload, "aya").messages
        assert [(one.name, one.arguments) for one in read[0].calls] == [(tool, arguments)]
        kept = [(one.content, one.is_error) for message in read for one in message.results]
        lost = "loss.tool_result" in codes(rendered.changes)
        assert kept == ([] if lost else [("ok", is_error)])
        assert lost == (tool != "lookup")


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


def test_times_are_carried_never_taken_from_a_clock_or_a_neighbour() -> None:
    rendered = aya(
        cw.system("s"),
        cw.user("a", author="U1", sent_at=NOON),
        cw.assistant("b"),
        cw.user("c", author="U1"),
    )
    assert [one["timestamp"] for one in rendered.payload] == [EPOCH, NOON, EPOCH, EPOCH]
    assert codes(rendered.changes) == ["invent.timestamp"]


def test_words_that_are_not_a_time_are_lost_and_named() -> None:
    rendered = aya(cw.user("a", author="U1", sent_at="yesterday"))
    assert [one["timestamp"] for one in rendered.payload] == [EPOCH]
    assert codes(rendered.changes) == ["loss.timestamp", "invent.timestamp"]
    assert "'yesterday'" in rendered.changes[0].reason


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
