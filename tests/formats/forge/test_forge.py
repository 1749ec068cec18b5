"""Forge's text protocol: what is read as a call or as thinking, and what never is."""

import json
from typing import Any

import pytest

import contextwright as cw
from contextwright.formats.forge.format import (
    Assistant,
    System,
    Tool,
    User,
)
from contextwright.formats.forge.read import scan
from samples.formats.forge import ADD, CALCULATOR, call, codes, forge, thought

# --- messages --------------------------------------------------------------------------------


def test_the_constructors() -> None:
    """FRG-1, FRG-2, FRG-3."""
    assert User("a\nb") == {"role": "user", "content": "a\nb"}
    assert Assistant("x") == {"role": "assistant", "content": "x"}
    assert System("x") == {"role": "system", "content": "x"}
    assert Tool("calculator", "Result: 8")["content"] == "Tool: calculator\nResult: 8"
    assert Tool("calculator", "Error: division by zero") == {
        "role": "tool",
        "content": "Tool: calculator\nError: division by zero",
    }


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param("Tool: calculator\nResult: 8", ("calculator", "Result: 8", False), id="FRG-2"),
        pytest.param("Tool: c\nError: by zero", ("c", "Error: by zero", True), id="FRG-3"),
        pytest.param(
            "Tool: c\nsee\nTool: d\nError: x", ("c", "see\nTool: d\nError: x", False), id="FRG-4"
        ),
        pytest.param("Result: 8", (None, "Result: 8", False), id="FRG-4 no header"),
        pytest.param("Tool: c", ("c", "", False), id="no answer"),
        pytest.param("Tool: \nx", (None, "Tool: \nx", False), id="no name"),
    ],
)
def test_results(content: str, expected: tuple[str | None, str, bool]) -> None:
    data = [Assistant(CALCULATOR), {"role": "tool", "content": content}]
    conversation = cw.parse(data, "forge")
    (result,) = conversation.messages[1].results
    assert (result.name, result.content, result.is_error) == expected
    assert cw.render(conversation, "forge").payload == data


def test_system_stands_anywhere() -> None:
    """FRG-5."""
    data = [System("a"), System("b"), User("c"), System("d")]
    assert cw.convert(data, "forge", "forge").payload == data


# --- reading assistant text ------------------------------------------------------------------

BODY = {
    "method": "POST",
    "headers": {"Content-Type": "application/json"},
    "body": '{"key": "value"}',
}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        pytest.param("The capital is Paris.", [cw.Text("The capital is Paris.")], id="words"),
        pytest.param(" a \n", [cw.Text(" a \n")], id="words stay as they are"),
        pytest.param(CALCULATOR, [call("calculator", **ADD)], id="FRG-6"),
        pytest.param(
            '<tool> {"tool_name":"x",\n\n"arguments":{ }}\t</tool>',
            [call("x")],
            id="FRG-6 any white space",
        ),
        pytest.param(
            '<tool>{"server_name":"far","tool_name":"x","arguments":{}}</tool>',
            [cw.ToolCall("x", extra={"forge": {"server_name": "far"}})],
            id="FRG-6 another server",
        ),
        pytest.param(
            f"[First]\n\n{CALCULATOR}\n\n[Then]\n\n{CALCULATOR}",
            [
                thought("First"),
                call("calculator", **ADD),
                thought("Then"),
                call("calculator", **ADD),
            ],
            id="FRG-7",
        ),
        pytest.param(
            "<tool>" + json.dumps({"tool_name": "api", "arguments": BODY}) + "</tool>",
            [call("api", **BODY)],
            id="FRG-8",
        ),
        pytest.param(
            """<tool>{"tool_name":"write","arguments":{"code":"print('</tool>')"}}</tool>""",
            [call("write", code="print('</tool>')")],
            id="FRG-9",
        ),
        pytest.param(
            '<tool>{"tool_name":"w","arguments":{"t":"\\"}</tool><tool>{\\""}}</tool>ok',
            [call("w", t='"}</tool><tool>{"'), cw.Text("ok")],
            id="FRG-9 quotes",
        ),
        pytest.param(
            "[if x>3 and i<10: </b>]\n\nDone",
            [thought("if x>3 and i<10: </b>"), cw.Text("Done")],
            id="FRG-12",
        ),
        pytest.param("[a <tool> b]", [thought("a <tool> b")], id="FRG-12 a tag in thinking"),
        pytest.param(
            "[a b]\n[c d]\n[e f]", [thought("a b"), thought("c d"), thought("e f")], id="FRG-14"
        ),
        pytest.param("[a\nb]\nc", [thought("a\nb"), cw.Text("c")], id="FRG-14 lines"),
        pytest.param("[1. First, look]", [thought("1. First, look")], id="FRG-14 numbered"),
        pytest.param("[use a[0] here]", [thought("use a[0] here")], id="FRG-14 brackets"),
        pytest.param(
            "<thinking>\na [b] <tool>{}</tool>\n</thinking>\nc",
            [thought("a [b] <tool>{}</tool>"), cw.Text("c")],
            id="FRG-17",
        ),
        pytest.param(
            "<tool><server_name>local</server_name><tool_name>add</tool_name>"
            "<arguments><a>5</a>\n<b> 3 &amp; 4 & 5 < 6</b></arguments></tool>",
            [call("add", a="5", b="3 & 4 & 5 < 6")],
            id="FRG-13",
        ),
        pytest.param(
            "<tool>\n<tool_name>diff</tool_name><arguments><edits>"
            "<edit><s><![CDATA[ <tool>a</s> ]]></s></edit><edit><s>b</s></edit><edit>c</edit>"
            "</edits></arguments></tool>x",
            [call("diff", edits={"edit": [{"s": " <tool>a</s> "}, {"s": "b"}, "c"]}), cw.Text("x")],
            id="FRG-13 CDATA",
        ),
        pytest.param(
            "<tool><tool_name>w</tool_name><arguments><html>a <b>c</b></html></arguments></tool>",
            [call("w", html="a <b>c</b>")],
            id="FRG-13 markup in words",
        ),
        pytest.param(
            '<tool><tool_name>w</tool_name><arguments>{"a": 1}</arguments></tool>',
            [call("w", a=1)],
            id="FRG-13 JSON",
        ),
        pytest.param(
            "<tool><tool_name>w</tool_name><arguments><a>&#65;&#x42;&#xd800;&#1114112;</a></arguments></tool>",
            [call("w", a="AB&#xd800;&#1114112;")],
            id="FRG-13 entities",
        ),
        pytest.param(
            "<tool><tool_name>w</tool_name><arguments>"
            "<a>&#0;&#1;&#xd7ff;&#xdfff;&#xe000;&#x10ffff;</a></arguments></tool>",
            [call("w", a="&#0;\x01\ud7ff&#xdfff;\ue000\U0010ffff")],
            id="FRG-13 the first and the last characters",
        ),
        pytest.param(
            "[No results were found, so I will try another search]\n\nStill looking.",
            [
                thought("No results were found, so I will try another search"),
                cw.Text("Still looking."),
            ],
            id="FRG-15 begins like a marker",
        ),
    ],
)
def test_what_is_read(text: str, parts: list[cw.messages.Part]) -> None:
    found = scan(text).parts
    assert found == tuple(parts)
    assert cw.convert([Assistant(text)], "forge", "forge").payload == [Assistant(text)]


@pytest.mark.parametrize(
    "text",
    [
        "[1, 2, 3]",
        "[42]",
        '["a", "b"]',
        "['a', 'b']",
        '[{"a": "b"}]',
        "[\n  1,\n  [\n2\n]\n]",
        '[\n[\n"a"\n]\n]',
        "[true, null]",
        "[12:30]",
        "[]",
        "[...]",
        "[x]",
        "[ ]",
        "[SUMMARIZED]",
        "[meta]",
        "[meta] chat_id=1",
        "[meta chat_id=1]",
        "[Session context: 12 messages omitted...]",
        "[RESPOND]",
        "[image: image/png]",
        "[x] done\n[ ] open",
        "[link](https://example.com)",
        "[a] and [b]",
        "see [this]",
        "  [indented]",
        "```\n[a b]\n```",
        "~~~~\n[a b]\n~~~\n[c d]\n~~~~",
        "[never closed",
        "closed] only",
    ],
)
def test_brackets_that_are_no_thinking(text: str) -> None:
    """FRG-15, ruling 2."""
    assert scan(text).parts == (cw.Text(text),)
    assert scan(f"{text}\n\n").parts == (cw.Text(f"{text}\n\n"),)


def test_a_code_block_goes_on_across_a_call() -> None:
    text = f"```\n{CALCULATOR}\n[a b]\n```\n[c d]"
    expected = [cw.Text("```"), call("calculator", **ADD), cw.Text("[a b]\n```"), thought("c d")]
    assert scan(text).parts == tuple(expected)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(
            '<tool>{"tool_name":"x","arguments":{}}', "missing </tool> tag", id="FRG-12 unclosed"
        ),
        pytest.param("<tool>", "missing </tool> tag", id="alone"),
        pytest.param(
            '<tool>{"tool_name":"x","arguments":{}}}</tool>',
            "invalid JSON: text after the object",
            id="a brace too many",
        ),
        pytest.param("<tool></tool>", "invalid JSON: no object", id="FRG-12 empty"),
        pytest.param("<tool>{broken}</tool>", "invalid JSON: Expecting property name", id="broken"),
        pytest.param('<tool>{"a": "</tool>', "invalid JSON: no end", id="a string without end"),
        pytest.param('<tool>{"a": "b', "missing </tool> tag", id="neither has an end"),
        pytest.param(
            '<tool>{"tool_name":"x","arguments":{"n":NaN}}</tool>', "invalid JSON: NaN", id="NaN"
        ),
        pytest.param(
            '<tool>{"tool_name":"x","arguments":{"n":1e999}}</tool>',
            "invalid JSON: 1e999",
            id="1e999",
        ),
        pytest.param('<tool>{"arguments":{}}</tool>', "missing tool_name", id="no name"),
        pytest.param(
            '<tool>{"tool_name":7,"arguments":{}}</tool>', "missing tool_name", id="no text"
        ),
        pytest.param("<tool><tool_name>x</tool_name>", "missing </tool> tag", id="XML unclosed"),
        pytest.param("<tool><tool_name>x</server_name></tool>", "invalid XML", id="XML crossed"),
        pytest.param("<tool><tool_name><![CDATA[x</tool>", "invalid XML", id="CDATA unclosed"),
        pytest.param("<tool><arguments>" + "<a>" * 200, "invalid XML", id="XML too deep"),
        pytest.param(
            '<tool>{"tool_name":"x","arguments":' + '{"a":' * 5_000 + "1" + "}" * 5_001 + "</tool>",
            "invalid JSON: nested too deeply",
            id="JSON far too deep",
        ),
        pytest.param(
            '<tool>{"tool_name":"x","arguments":' + '{"a":' * 150 + "1" + "}" * 151 + "</tool>",
            "invalid JSON: nested too deeply",
            id="JSON too deep",
        ),
    ],
)
def test_what_is_no_call_stays_text(text: str, reason: str) -> None:
    """FRG-12."""
    data = [Assistant(f"before {text}")]
    conversation = cw.parse(data, "forge")
    assert conversation.messages[0].parts == (cw.Text(f"before {text}"),)
    assert codes(conversation.changes) == ["repair.malformed_call"]
    assert conversation.changes[0].reason.startswith(reason)
    assert cw.render(conversation, "forge").payload == data
    with pytest.raises(cw.ParseError) as caught:
        cw.parse(data, "forge", strict=True)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("given_arguments", "expected"),
    [
        ("", {}),
        (',"arguments":null', {}),
        (',"arguments":"{\\"a\\": 1}"', {"a": 1}),
        (',"arguments":"words"', {"_raw": "words"}),
        (',"arguments":[1]', {"_raw": "[1]"}),
        (',"arguments":{"code":"a\nb"}', {"code": "a\nb"}),
    ],
)
def test_calls_that_are_nearly_right(given_arguments: str, expected: dict[str, Any]) -> None:
    """FRG-31: a lenient reader takes them, and says what is wrong."""
    data = [Assistant('<tool>{"tool_name":"x"' + given_arguments + "}</tool>")]
    conversation = cw.parse(data, "forge")
    assert conversation.messages[0].calls[0].arguments == expected
    assert codes(conversation.changes) == ["repair.call"]
    assert cw.render(conversation, "forge").payload == data


def test_a_broken_call_hides_no_good_one() -> None:
    for broken in ('<tool>{"tool_name":"x, "arguments":{}}</tool>', "<tool><tool_name>x"):
        text = f"{broken}\n\n{CALCULATOR}"
        assert scan(text).parts[1:] == (call("calculator", **ADD),)


@pytest.mark.parametrize("role", ["user", "system"])
@pytest.mark.parametrize("text", [CALCULATOR, "[a thought]", "Tool: calculator\nResult: 42"])
def test_only_assistant_text_is_parsed(role: str, text: str) -> None:
    conversation = cw.parse([{"role": role, "content": text}], "forge")
    assert conversation.messages == (cw.Message(role, (cw.Text(text),)),)  # pyright: ignore


@pytest.mark.parametrize("role", ["user", "system", "assistant"])
def test_a_message_without_words_has_no_parts(role: str) -> None:
    """FRG-30."""
    empty = [{"role": role, "content": ""}]
    assert cw.parse(empty, "forge").messages == (cw.Message(role, ()),)  # pyright: ignore
    with pytest.raises(cw.ParseError, match=r"\[0\]\.content: content cannot be empty"):
        cw.parse(empty, "forge", strict=True)


@pytest.mark.parametrize("entry", [{}, {"content": None}])
@pytest.mark.parametrize("role", ["user", "system", "assistant", "tool"])
def test_a_message_whose_content_is_missing_is_read_as_empty(
    role: str, entry: dict[str, Any]
) -> None:
    log = {"messages": [User("hi"), {"role": role, **entry}]}
    (change,) = cw.parse(log, "forge").changes
    assert str(change) == "repair.content messages[1].content: is missing; read as empty"
    with pytest.raises(cw.ParseError, match=r"messages\[1\]\.content: is missing"):
        cw.parse(log, "forge", strict=True)


def test_results_find_their_calls() -> None:
    """FRG-11, ruling 1: by name, else by age."""
    two = (
        '<tool>{"tool_name":"a","arguments":{"n":1}}</tool>'
        '<tool>{"tool_name":"b","arguments":{}}</tool>'
    )
    again = '<tool>{"tool_name":"a","arguments":{"n":2}}</tool>'
    data = [
        Assistant(two),
        Assistant(again),
        Tool("b", "1"),
        Tool("a", "2"),
        Tool("other", "3"),
        Tool("late", "4"),
    ]
    conversation = cw.parse(data, "forge")
    assert [call.id for message in conversation.messages for call in message.calls] == [
        "call_1",
        "call_2",
        "call_3",
    ]
    found = [message.results[0].call_id for message in conversation.messages[2:]]
    assert found == ["call_2", "call_1", "call_3", None]


def test_results_are_put_where_names_lead_them() -> None:
    """Calls of one name whose results came in another order would be exchanged."""
    rendered = forge(
        cw.assistant([cw.ToolCall("a", {"n": 1}, "1"), cw.ToolCall("a", {"n": 2}, "2")]),
        cw.tool_result("2", "second"),
        cw.tool_result("1", "first"),
    )
    assert [entry["content"] for entry in rendered.payload[1:]] == [
        "Tool: a\nfirst",
        "Tool: a\nsecond",
    ]
    assert codes(rendered.changes) == ["repair.order"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1_000])
def test_streams_are_cut_anywhere(size: int) -> None:
    """FRG-12."""
    text = f"[a <b]\n\n{CALCULATOR}\n\nDone </tool"
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    whole = cw.parse_reply(text, "forge")
    assert whole.messages == cw.parse([Assistant(text)], "forge").messages
    assert whole.finish == "stop"
    assert cw.parse_stream(pieces, "forge") == whole
    assert cw.parse_stream([{"content": piece} for piece in pieces], "forge") == whole
    assert cw.parse_reply(Assistant(text), "forge") == whole


def test_what_is_no_piece() -> None:
    assert cw.parse_stream(["a", None, {}, "b"], "forge").messages[0].text == "ab"
    with pytest.raises(cw.ParseError):
        cw.parse_stream([7], "forge")


@pytest.mark.parametrize("reply", [None, 7, {}, {"content": 7}])
def test_what_is_no_reply(reply: Any) -> None:
    with pytest.raises(cw.ParseError):
        cw.parse_reply(reply, "forge")


def test_the_shapes_of_a_document() -> None:
    data = {
        "messages": [User("hi") | {"timestamp": "2026-01-01T00:00:00Z", "metadata": {"a": 1}}],
        "limit": 8_000,
    }
    conversation = cw.parse(data, "forge")
    assert conversation.messages[0].sent_at == "2026-01-01T00:00:00Z"
    assert cw.render(conversation, "forge").payload == data
    capital = cw.parse([{"Role": "user", "Content": "hi"}], "forge")
    assert cw.render(capital, "forge").payload == [User("hi")]


@pytest.mark.parametrize(
    "data", [7, "x", {}, {"messages": 7}, [7], [{"role": "x", "content": "y"}]]
)
def test_what_cannot_be_read_is_an_error(data: Any) -> None:
    with pytest.raises(cw.ParseError):
        cw.parse(data, "forge")
