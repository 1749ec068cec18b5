"""Forge's XML dialect: elements without content."""

import msgspec
import pytest

import contextwright as cw
from contextwright.messages.parts import ToolCall
from samples.formats.forge import call

EMPTY: list[tuple[str, ToolCall]] = [
    ("<tool_name>w</tool_name><arguments></arguments>", call("w")),
    ("<tool_name>w</tool_name><arguments>\n</arguments>", call("w")),
    ("<tool_name>w</tool_name><arguments/>", call("w")),
    ("<server_name /><tool_name>w</tool_name><arguments />", call("w")),
    ("<tool_name>w</tool_name><arguments><all/></arguments>", call("w", all="")),
    ("<tool_name>w</tool_name><arguments><all></all></arguments>", call("w", all="")),
    ("<tool_name>w</tool_name><arguments><arguments/></arguments>", call("w", arguments="")),
    (
        "<tool_name>w</tool_name><arguments><html><br/> <hr/> &amp;</html></arguments>",
        call("w", html="<br/> <hr/> &"),
    ),
]


@pytest.mark.parametrize(("inside", "expected"), EMPTY)
def test_frg_13_empty_elements(inside: str, expected: ToolCall) -> None:
    data = [{"role": "assistant", "content": f"<tool>{inside}</tool>"}]
    conversation = cw.parse(data, "forge", strict=True)
    assert conversation.messages[0].calls == (msgspec.structs.replace(expected, id="call_1"),)
    assert cw.render(conversation, "forge").payload == data
