"""Forge's text protocol: what is read as a call or as thinking, and what never is."""

import gc
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.formats.forge.format import (
    Assistant,
    System,
    Tool,
    User,
    on_wire,
    validate_message,
    validate_tool_call,
)
from contextwright.formats.forge.markup import same_parts, text_of
from contextwright.formats.forge.read import scan
from contextwright.tokens.tokenizers import ESTIMATORS
from samples.systems import MULTI_TOOL
from strategies.messages import arguments, json_values, texts

ADD = {"a": 5, "b": 3}
CALCULATOR = """<tool>
{
  "server_name": "local",
  "tool_name": "calculator",
  "arguments": {"a": 5, "b": 3}
}
</tool>"""


def call(name: str, **given: Any) -> cw.ToolCall:
    return cw.ToolCall(name, given)


def thought(text: str) -> cw.Thinking:
    return cw.Thinking(text, origin="forge")


def codes(changes: Any) -> list[str]:
    return [change.code for change in changes]


def forge(*messages: cw.Message, **options: Any) -> cw.Rendered:
    return cw.render(messages, "forge", **options)


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
        pytest.param("<tool></tool>", "invalid JSON: no object", id="FRG-12 empty"),
        pytest.param("<tool>{broken}</tool>", "invalid JSON: Expecting property name", id="broken"),
        pytest.param('<tool>{"a": "</tool>', "invalid JSON: no end", id="a string without end"),
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
    text = f'<tool>{{"tool_name":"x, "arguments":{{}}}}</tool>\n\n{CALCULATOR}'
    assert scan(text).parts[1:] == (call("calculator", **ADD),)


@pytest.mark.parametrize("role", ["user", "system"])
@pytest.mark.parametrize("text", [CALCULATOR, "[a thought]", "Tool: calculator\nResult: 42"])
def test_only_assistant_text_is_parsed(role: str, text: str) -> None:
    conversation = cw.parse([{"role": role, "content": text}], "forge")
    assert conversation.messages == (cw.Message(role, (cw.Text(text),)),)  # pyright: ignore


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


# --- writing ---------------------------------------------------------------------------------


def test_the_documents_conversation_comes_back() -> None:
    """FRG-10."""
    conversation = cw.parse(MULTI_TOOL, "forge", strict=True)
    rendered = cw.render(conversation, "forge")
    assert (rendered.payload, rendered.changes) == (MULTI_TOOL, ())
    assert cw.check(rendered.payload, "forge") == []


def test_a_message_is_written_in_forges_way() -> None:
    """FRG-10."""
    rendered = forge(
        cw.assistant(
            [thought("a"), thought("b"), cw.Text("Let me see."), call("calculator", **ADD)]
        )
    )
    assert rendered.payload == [
        Assistant(
            "[a]\n[b]\n\nLet me see.\n\n<tool>\n{\n"
            '  "server_name": "local",\n  "tool_name": "calculator",\n'
            '  "arguments": {\n    "a": 5,\n    "b": 3\n  }\n}\n</tool>'
        )
    ]


def test_raw_text_that_says_something_else_is_not_used() -> None:
    """FRG-10: neither a stale nor a forged spelling wins over the parts."""
    conversation = cw.parse([Assistant(CALCULATOR)], "forge")
    (message,) = conversation.messages
    assert message.extra["forge"]["raw"] == CALCULATOR
    changed = cw.Message("assistant", (cw.Text("no"),), extra=message.extra)
    assert forge(changed).payload == [Assistant("no")]
    one_is_not_true = cw.Message(
        "assistant",
        (call("x", a=1),),
        extra={"forge": {"raw": '<tool>{"tool_name":"x","arguments":{"a":true}}</tool>'}},
    )
    assert '"a": 1' in forge(one_is_not_true).payload[0]["content"]
    result = cw.Message(
        "tool", (cw.ToolResult(None, "8", "a"),), extra={"forge": {"raw": "Tool: b\n9"}}
    )
    assert forge(result, repair=False).payload == [Tool("a", "8")]


def test_thinking_can_be_left_out() -> None:
    """FRG-16: a message that was only thinking is not sent."""
    data = [User("hi"), Assistant("[hmm]"), Assistant("[so]\n\nHello"), User("and?")]
    rendered = cw.convert(data, "forge", "forge", thinking="drop")
    assert rendered.payload == [User("hi"), Assistant("Hello"), User("and?")]
    assert codes(rendered.changes) == ["loss.thinking", "loss.thinking", "loss.blank"]


def test_thinking_of_others_is_kept() -> None:
    rendered = forge(cw.assistant([cw.Thinking("from Claude", "sig", "anthropic"), cw.Text("ok")]))
    assert rendered.payload == [Assistant("[from Claude]\n\nok")]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (CALCULATOR, CALCULATOR.replace("<tool>", "&lt;tool>")),
        ("use <tool>", "use &lt;tool>"),
        ("<thinking>x</thinking>", "&lt;thinking>x</thinking>"),
        ("[a thought]", "\\[a thought]"),
        ("[a thought]\n[link](x)\n[another]", "\\[a thought]\n[link](x)\n\\[another]"),
        ("[a\n[b c]\n]", "\\[a\n\\[b c]\n]"),
    ],
)
def test_words_that_look_like_structure_are_made_inert(text: str, written: str) -> None:
    rendered = forge(cw.assistant(text))
    assert rendered.payload == [Assistant(written)]
    assert codes(rendered.changes) == ["repair.inert"]
    parsed = cw.parse(rendered.payload, "forge", strict=True)
    assert parsed.messages[0].parts == (cw.Text(written),)


@pytest.mark.parametrize(
    "text", ["[1, 2]", "see [this](that)", "```\n[a b]\n```", "a < b", "[x] done"]
)
def test_harmless_words_stay_as_they_are(text: str) -> None:
    rendered = forge(cw.assistant(text))
    assert (rendered.payload, rendered.changes) == ([Assistant(text)], ())


@pytest.mark.parametrize(
    "text", ["", "1, 2", "a]\n[b", "un[balanced", "x", "[</thinking>", "see <tool>{}</tool>"]
)
def test_thinking_that_brackets_cannot_hold_stands_in_tags(text: str) -> None:
    (entry,) = forge(cw.assistant([thought(text), cw.Text("ok")])).payload
    assert entry["content"].startswith("<thinking>")
    assert scan(entry["content"]).parts[0] == thought(text.replace("</thinking>", "&lt;/thinking>"))


def test_tags_in_arguments_are_spelled_inertly() -> None:
    (entry,) = forge(cw.assistant(call("write", code="</tool><tool>{}", other="<b>"))).payload
    assert '"\\u003c/tool>\\u003ctool>{}"' in entry["content"]
    assert '"<b>"' in entry["content"]
    assert entry["content"].count("</tool>") == 1


parts = st.lists(
    st.builds(cw.Text, texts | st.sampled_from(("```", "[", "]", "[a", "b]", "\\[x y]", "~~~\n")))
    | st.builds(thought, texts | st.sampled_from(("a b", "```", "x\n\ny", "[", "1")))
    | st.builds(cw.ToolCall, st.sampled_from(("a", "b")), arguments),
    max_size=4,
)


@given(parts)
@example([cw.Text("```"), thought("a b")])
@example([cw.Text("[a"), cw.Text("b]")])
@example([cw.Text("[a"), thought("x y"), cw.Text("b]")])
def test_what_is_written_is_read_back(given_parts: list[cw.messages.Part]) -> None:
    """No words become a call or thinking, no call and no thinking gets lost."""
    try:
        text, made_inert = text_of(given_parts)
    except UnicodeEncodeError:
        return
    found = scan(text)
    assert not any(note.fatal for note in found.notes)
    if not made_inert:
        assert same_parts(found.parts, given_parts)
    calls = [part for part in given_parts if isinstance(part, cw.ToolCall)]
    assert [part for part in found.parts if isinstance(part, cw.ToolCall)] == calls
    thoughts = [part.text.strip() for part in given_parts if isinstance(part, cw.Thinking)]
    read = [part.text.strip() for part in found.parts if isinstance(part, cw.Thinking)]
    assert read == [text.replace("</thinking>", "&lt;/thinking>") for text in thoughts]


@given(texts | st.text(alphabet='<tool>{"}[] \n\\a/', max_size=60) | st.text(max_size=60))
def test_any_text_comes_back(text: str) -> None:
    """FRG-10: text-equal, whatever the assistant wrote."""
    data = [Assistant(text)]
    conversation = cw.parse(data, "forge")
    if text.strip() and "\ud83d" not in text:
        assert cw.render(conversation, "forge").payload == data


@given(
    st.lists(st.dictionaries(st.sampled_from(("role", "content", "x")), json_values), max_size=3)
    | json_values
)
def test_any_json_is_read_or_refused(data: Any) -> None:
    cw.check(data, "forge")
    for strict in (False, True):
        try:
            cw.render(cw.parse(data, "forge", strict=strict), "forge")
        except cw.ParseError:
            continue


@pytest.mark.parametrize(
    "target", ["anthropic", "gemini", "openai-chat", "openai-responses", "aya", "port42"]
)
def test_the_conversation_is_legal_everywhere(target: str) -> None:
    """FRG-37: what ends the loop is speech, never a call without a result."""
    rendered = cw.convert(MULTI_TOOL, "forge", target)
    assert [found for found in cw.check(rendered.payload, target) if found.level == "error"] == []
    assert "Here are the top Python tutorials" in str(rendered.payload)
    assert "task_completion" not in str(rendered.payload)


@pytest.mark.parametrize(
    ("result", "content", "changes"),
    [
        (cw.ToolResult("1", "8"), "Tool: c\n8", []),
        (cw.ToolResult("1", {"n": 8}), 'Tool: c\n{"n":8}', []),
        (
            cw.ToolResult("1", "by zero", is_error=True),
            "Tool: c\nError: by zero",
            ["repair.error_flag"],
        ),
        (cw.ToolResult("1", "Error: by zero", is_error=True), "Tool: c\nError: by zero", []),
        (
            cw.ToolResult("1", "Error: in the log"),
            "Tool: c\nError: in the log",
            ["repair.error_flag"],
        ),
    ],
)
def test_results_of_others(result: cw.ToolResult, content: str, changes: list[str]) -> None:
    rendered = forge(cw.assistant(cw.ToolCall("c", {}, "1")), cw.Message("tool", (result,)))
    assert rendered.payload[1] == {"role": "tool", "content": content}
    assert codes(rendered.changes) == changes


def test_results_that_answer_nothing_are_left_out_and_said() -> None:
    rendered = forge(cw.user("hi"), cw.tool_result("x", "lost"), cw.user("so?"))
    assert rendered.payload == [User("hi"), User("so?")]
    assert codes(rendered.changes) == ["loss.orphan"]
    assert forge(cw.tool_result("x", "kept"), repair=False).payload == [Tool("unknown", "kept")]


def test_a_message_of_both_becomes_several() -> None:
    rendered = forge(
        cw.assistant(cw.ToolCall("a", {}, "1")),
        cw.Message("user", (cw.Text("wait"), cw.ToolResult("1", "ok"), cw.Text("go"))),
    )
    assert rendered.payload[1:] == [User("wait"), Tool("a", "ok"), User("go")]


def test_half_a_pair_in_an_argument() -> None:
    data = [Assistant('<tool>{"tool_name":"x","arguments":{"a":"\\ud800"},"note":1}</tool>')]
    conversation = cw.parse(data, "forge")
    assert conversation.messages[0].calls[0].arguments == {"a": "\ud800"}
    assert cw.render(conversation, "forge").payload == data


def test_fields_beside_a_call_come_back() -> None:
    held = cw.ToolCall("x", extra={"forge": {"server_name": "far", "note": 1}})
    (written,) = forge(cw.assistant(held)).payload
    assert scan(written["content"]).parts == (held,)


def test_on_the_wire_a_tool_is_a_user_and_no_user_is_a_tool() -> None:
    """FRG-35."""
    messages = [System("s"), User("Tool: calculator\nResult: 42"), Tool("calculator", "Result: 8")]
    assert on_wire(messages) == [
        System("s"),
        User("User: Tool: calculator\nResult: 42"),
        User("Tool: calculator\nResult: 8"),
    ]


# --- validation ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "faults"),
    [
        pytest.param(User("x"), [], id="nothing"),
        pytest.param({"role": "bot", "content": "x"}, ["invalid role: bot"], id="FRG-29"),
        pytest.param(User(""), ["content cannot be empty"], id="FRG-30"),
        pytest.param(
            {"role": "x", "content": ""}, ["invalid role: x", "content cannot be empty"], id="both"
        ),
        pytest.param(
            7, ["invalid role: None", "content must be a string, not None"], id="no message"
        ),
    ],
)
def test_validate_message(message: Any, faults: list[str]) -> None:
    assert validate_message(message) == faults


@pytest.mark.parametrize(
    ("content", "faults"),
    [
        pytest.param(CALCULATOR, [], id="nothing"),
        pytest.param("text", ["missing <tool> tag"], id="FRG-31 no tag"),
        pytest.param("<tool>{}", ["missing </tool> tag"], id="FRG-31 no end"),
        pytest.param("<tool>{x}</tool>", ["invalid JSON"], id="FRG-31 JSON"),
        pytest.param('<tool>{"arguments":{}}</tool>', ["missing tool_name"], id="FRG-31 name"),
        pytest.param(
            '<tool>{"tool_name":"x"}</tool>', ["missing arguments"], id="FRG-31 arguments"
        ),
        pytest.param(
            '<tool>{"tool_name":"x","arguments":null}</tool>',
            ["arguments must be an object"],
            id="FRG-31 null",
        ),
        pytest.param("</tool>{}<tool>", ["</tool> stands before <tool>"], id="FRG-32"),
        pytest.param(
            f'{CALCULATOR}<tool>{{"tool_name":"x"}}</tool>', ["missing arguments"], id="FRG-33"
        ),
    ],
)
def test_validate_tool_call(content: str, faults: list[str]) -> None:
    found = validate_tool_call(content)
    assert len(found) == len(faults)
    assert all(text.startswith(fault) for text, fault in zip(found, faults, strict=True))


@pytest.mark.parametrize(
    ("data", "found"),
    [
        pytest.param([System("s"), User("x")], [], id="nothing"),
        pytest.param(7, [("forge.messages", "", "error")], id="no list"),
        pytest.param(
            {"messages": {}}, [("forge.messages", "messages", "error")], id="no list in it"
        ),
        pytest.param(
            [System("s"), {"role": "x", "content": "y"}],
            [("forge.role", "[1].role", "error")],
            id="FRG-29",
        ),
        pytest.param(
            [System("s"), User("")], [("forge.content", "[1].content", "error")], id="FRG-30"
        ),
        pytest.param(
            [System("s"), Assistant("<tool>")],
            [("forge.call", "[1].content", "error")],
            id="FRG-33",
        ),
        pytest.param([System("s"), User("<tool>")], [], id="FRG-33 users may say it"),
        pytest.param(
            [System("s"), Tool("a", "b c")], [("forge.orphan", "[1]", "error")], id="FRG-34 order"
        ),
        pytest.param([User("x")], [("forge.no_system", "", "warning")], id="FRG-34 system"),
        pytest.param(
            {"messages": [System("s"), Assistant(CALCULATOR), Tool("calculator", "42")]},
            [("forge.bare_result", "messages[2].content", "warning")],
            id="FRG-34 bare",
        ),
        pytest.param(
            [System("s"), User("x") | {"y": 1}],
            [("forge.extra", "[1].y", "warning")],
            id="a field too many",
        ),
    ],
)
def test_check(data: Any, found: list[tuple[str, str, str]]) -> None:
    assert [(one.code, one.path, one.level) for one in cw.check(data, "forge")] == found


# --- estimates -------------------------------------------------------------------------------

LISTS = (
    "Please explain the difference between lists and tuples in Python, including their "
    "performance characteristics and common use cases."
)


@pytest.mark.parametrize(
    ("text", "formula", "table"),
    [
        pytest.param("Hello", 5, 5, id="FRG-18"),
        pytest.param(LISTS, 36, 36, id="FRG-19 the formula wins over the example"),
        pytest.param(CALCULATOR, 40, 40, id="FRG-19 a call"),
        pytest.param("Привіт", 7, 7, id="FRG-20 bytes"),
        pytest.param(Tool("calculator", "Result: 8")["content"], 10, 16, id="FRG-21"),
    ],
)
def test_estimates(text: str, formula: int, table: int) -> None:
    assert (ESTIMATORS["forge"](text), ESTIMATORS["forge-table"](text)) == (formula, table)


# --- time ------------------------------------------------------------------------------------

SHAPES = {
    "tags": ("", "<tool>", ""),
    "open objects": ("", "<tool>{", ""),
    "open strings": ("", '<tool>{"', ""),
    "escaped strings": ('<tool>{"', '<tool>{\\"', ""),
    "two readings": ('<tool>{"<tool>{"', ':":",",', ""),
    "brackets": ("", "[", ""),
    "brackets at line starts": ("", "\n[", ""),
    "nested lists": ("", "[\n", "]\n"),
    "nested thoughts": ("", "[a\n", "]\n"),
    "thoughts": ("", "[a b]\n", ""),
    "code blocks": ("", "```\n[a b]\n", ""),
    "nested objects": ("<tool>", '{"a":', "}"),
    "nested calls": ("", '<tool>{"a":', "}"),
    "elements": ("<tool><arguments>", "<a>", "</a>"),
    "unclosed elements": ("", "<tool><tool_name>", ""),
    "CDATA": ("", "<tool><arguments><x><![CDATA[", "]]>"),
    "thinking": ("", "<thinking>", ""),
    "calls": ("", '<tool>{"tool_name":"x","arguments":{}}</tool>', ""),
    "broken calls": ("", '<tool>{"tool_name":x,"arguments":{}}</tool>', ""),
    "blanks": ("<tool>", " ", "x"),
}


def cost(text: str) -> float:
    """The processor time of one scan, at its best of several."""
    best = float("inf")
    gc.disable()
    try:
        for _ in range(3):
            start = time.process_time()
            scan(text)
            best = min(best, time.process_time() - start)
    finally:
        gc.enable()
    return best


@pytest.mark.parametrize("shape", SHAPES)
def test_time_is_linear(shape: str) -> None:
    """Four times the text takes about four times the time, and nowhere near sixteen times."""
    before, unit, after = SHAPES[shape]

    def text(size: int) -> str:
        count = size // len(unit + after)
        return before + unit * count + after * count

    ratios = (cost(text(200_000)) / max(cost(text(50_000)), 1e-3) for _ in range(3))
    assert any(ratio < 8 for ratio in ratios)


@pytest.mark.parametrize("shape", ["tags", "brackets at line starts", "nested lists", "calls"])
def test_a_megabyte_is_read_whole(shape: str) -> None:
    before, unit, after = SHAPES[shape]
    count = 1_000_000 // len(unit + after)
    text = before + unit * count + after * count
    conversation = cw.parse([Assistant(text)], "forge")
    assert cw.render(conversation, "forge").payload == [Assistant(text)]


def test_hostile_words_change_no_structure(data_folder: Path) -> None:
    """Whoever says it, wherever it stands: the same roles, calls and results are read back."""
    for line in (data_folder / "hostile" / "corpus.jsonl").read_text().splitlines():
        words = json.loads(line).get("payload", "")
        if not words.strip() or re.search("[\ud800-\udfff]", words):
            continue
        rendered = forge(
            cw.system("s"),
            cw.user(words),
            cw.assistant([cw.Text(words), cw.ToolCall("echo", {"words": words}, "1")]),
            cw.tool_result("1", words),
            cw.assistant(words),
        )
        parsed = cw.parse(rendered.payload, "forge", strict=True)
        shape = [
            (message.role, len(message.calls), len(message.results)) for message in parsed.messages
        ]
        assert shape == [
            ("system", 0, 0),
            ("user", 0, 0),
            ("assistant", 1, 0),
            ("tool", 0, 1),
            ("assistant", 0, 0),
        ]
        assert parsed.messages[1].text == words
        assert parsed.messages[2].calls[0].arguments == {"words": words}
        assert parsed.messages[3].results[0].content == words
        assert not any(
            isinstance(part, cw.Thinking) for message in parsed.messages for part in message.parts
        )
