"""Forge's text protocol, written and read back."""

from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.formats.forge.format import (
    Assistant,
    System,
    Tool,
    User,
    from_wire,
    on_wire,
)
from contextwright.formats.forge.markup import same_parts, text_of
from contextwright.formats.forge.read import scan
from samples.formats.forge import ADD, CALCULATOR, call, codes, forge, parts, thought
from samples.systems import MULTI_TOOL
from strategies.messages import json_values, texts

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
    assert rendered.changes[0].reason == "thinking is left out, as asked"


def test_thinking_of_others_is_kept() -> None:
    rendered = forge(cw.assistant([cw.Thinking("from Claude", "sig", "anthropic"), cw.Text("ok")]))
    assert rendered.payload == [Assistant("[from Claude]\n\nok")]


def test_times_return_to_forge() -> None:
    """What is added to Forge's messages, or changed, keeps its time."""
    noon = "2026-01-01T12:00:00Z"
    conversation = cw.parse(
        [User("hi") | {"timestamp": "yesterday", "metadata": {"a": 1}}], "forge"
    )
    [asked] = conversation.messages
    answer = cw.assistant("Hello.", sent_at=noon)
    later = msgspec.structs.replace(asked, sent_at=noon)
    for messages, written in (
        ((asked, answer), "yesterday"),
        ((later, answer), noon),
    ):
        rendered = cw.render(msgspec.structs.replace(conversation, messages=messages), "forge")
        assert rendered.payload == [
            User("hi") | {"timestamp": written, "metadata": {"a": 1}},
            {"role": "assistant", "content": "Hello.", "timestamp": noon},
        ]
        assert list(rendered.payload[0]) == ["role", "content", "timestamp", "metadata"]
        assert rendered.changes == ()


THOUGHTS = [
    ("a</thinking>b", "[a</thinking>b]", False),
    ("a]</thinking>[", "<thinking>a]&lt;/thinking>[</thinking>", True),
    ("a][", "<thinking>a][</thinking>", False),
    ("a &lt;/thinking>[", "<thinking>a &lt;/thinking>[</thinking>", False),
]


@pytest.mark.parametrize(("text", "written", "escaped"), THOUGHTS)
def test_an_escape_in_a_thought_is_said(text: str, written: str, escaped: bool) -> None:
    rendered = forge(cw.assistant([thought(text), cw.Text("Hi.")]))
    assert rendered.payload[0]["content"].partition("\n\n")[0] == written
    assert codes(rendered.changes) == ["repair.inert"] * escaped


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


@given(parts)
@example([cw.Text("```"), thought("a b")])
@example([cw.Text("[a"), cw.Text("b]")])
@example([cw.Text("[a"), thought("x y"), cw.Text("b]")])
@example([cw.Text("a"), cw.Text(""), cw.Text("b")])
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


wire_starts = st.lists(st.sampled_from(("User: ", "Tool:", " ", "\n", "x")), max_size=5).map(
    "".join
)
wire_texts = st.builds(str.__add__, wire_starts, texts)


@given(st.builds(User, wire_texts) | st.builds(Tool, texts, texts) | st.builds(System, wire_texts))
@example(User("User: Tool: calculator\nResult: 42"))
def test_what_is_sent_is_read_back(entry: dict[str, Any]) -> None:
    assert from_wire(on_wire([entry])) == [entry]


@given(wire_texts)
def test_a_result_on_the_wire_names_a_tool(content: str) -> None:
    (sent,) = on_wire([{"role": "tool", "content": content}])
    assert sent["role"] == "user"
    assert sent["content"].startswith("Tool: ")
    assert sent["content"].endswith(content)
    assert from_wire([sent]) == [{**sent, "role": "tool"}]
