"""Results and arguments in the spellings of other hosts and SDKs."""

from typing import Any

import pytest

import contextwright as cw


@pytest.mark.parametrize(
    ("content", "read", "change"),
    [
        ([5], "[5]", "messages[1].content: a list of data; sent as JSON text"),
        (["x", 5], '["x",5]', "messages[1].content: a list of data; sent as JSON text"),
        ([{"a": 1}], '[{"a":1}]', "messages[1].content: a list of data; sent as JSON text"),
        (["x"], "x", "messages[1].content[0]: a bare string among parts"),
        ([], "", ""),
        ([{"type": "text", "text": "x"}], "x", ""),
        ({"a": 1}, {"a": 1}, "messages[1].content: an object; sent as JSON text"),
        (5, "5", "messages[1].content: must be a string, not 5"),
        (True, "true", "messages[1].content: must be a string, not True"),
        (None, "", "messages[1].content: content is missing; read as empty"),
        ([{"type": "tool_use"}], (cw.Opaque("openai-chat", {"type": "tool_use"}),), ""),
    ],
)
def test_what_a_result_may_hold(content: Any, read: Any, change: str) -> None:
    function = {"name": "f", "arguments": "{}"}
    call = {"id": "c1", "type": "function", "function": function}
    result = {"role": "tool", "tool_call_id": "c1", "content": content}
    body = {"messages": [{"role": "assistant", "tool_calls": [call]}, result]}
    conversation = cw.parse(body, "openai-chat")
    assert conversation.messages[1].results == (cw.ToolResult("c1", read),)
    expected = [f"repair.content {change}"] if change else []
    assert [str(one) for one in conversation.changes] == expected


@pytest.mark.parametrize(
    ("given", "read"),
    [({"a": 1}, {"a": 1}), (None, {}), ('{"a": 1}', {"a": 1}), ([1], {"_raw": "[1]"})],
)
def test_arguments_in_any_spelling(given: Any, read: Any) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": given}}
    body = {"messages": [{"role": "assistant", "tool_calls": [call]}]}
    assert cw.parse(body, "openai-chat").messages[0].calls[0].arguments == read


def test_arguments_that_are_half_a_character_are_refused() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": ["\ud800"]}}
    body = {"messages": [{"role": "assistant", "tool_calls": [call]}]}
    with pytest.raises(cw.ParseError, match="function.arguments: cannot be written as JSON"):
        cw.parse(body, "openai-chat")
