"""Hosted tools by a wrong name, references to tools that are not there, and no output at all."""

from typing import Any

import pytest

import contextwright as cw

ASKED = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
LOOKED = {"type": "tool_use", "id": "t1", "name": "find", "input": {}}
FIND = {"name": "find", "input_schema": {"type": "object"}}
SEARCH = {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}
RAIN = {"name": "rain", "input_schema": {"type": "object"}, "defer_loading": True}
REFERENCES = [{"type": "tool_reference", "tool_name": name} for name in ("rain", "snow")]
FOUND = {"type": "tool_search_tool_search_result", "tool_references": REFERENCES}


def asked(*turns: Any, **settings: Any) -> dict[str, Any]:
    head = {"model": "claude-sonnet-5-5", "max_tokens": 9}
    return {**head, "messages": [ASKED, *turns, *([ASKED] if turns else [])], **settings}


REFUSED: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "a hosted tool under another name": (
        asked(tools=[{"type": "web_search_20250305", "name": "WebSearch", "max_uses": 1}]),
        "A-toolname tools[0].name",
        {"tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 1}]},
    ),
    "one without a name": (
        asked(tools=[{"type": "bash_20250124"}]),
        "A-toolname tools[0].name",
        {"tools": [{"type": "bash_20250124", "name": "bash"}]},
    ),
    "an editor under the name of an older one": (
        asked(tools=[{"type": "text_editor_20250728", "name": "str_replace_editor"}]),
        "A-toolname tools[0].name",
        {"tools": [{"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"}]},
    ),
    "a result with a tool that is not defined": (
        asked(
            {"role": "assistant", "content": [LOOKED]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t1", "content": REFERENCES}],
            },
            {"role": "assistant", "content": [{"type": "text", "text": "So."}]},
            tools=[FIND, RAIN],
        ),
        "A-reference messages[2].content[0].content[1]",
        {"messages.2.content.0.content.1": {"type": "text", "text": "snow"}},
    ),
    "a hosted search for tools with one": (
        asked(
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "server_tool_use",
                        "id": "s1",
                        "name": "tool_search_tool_regex",
                        "input": {},
                    },
                    {"type": "tool_search_tool_result", "tool_use_id": "s1", "content": FOUND},
                ],
            },
            tools=[SEARCH, RAIN],
        ),
        "A-reference messages[1].content[1].content.tool_references[1]",
        {"messages.1.content.1.content.tool_references": REFERENCES[:1]},
    ),
    "a stream of nothing": (
        asked(max_tokens=0, stream=True),
        "A-max-output max_tokens",
        {"max_tokens": 1},
    ),
    "a forced call in nothing": (
        asked(
            max_tokens=0,
            model="claude-opus-4-5",
            tools=[FIND],
            tool_choice={"type": "any"},
        ),
        "A-max-output max_tokens",
        {"max_tokens": 1},
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_api_refuses_of_tools_and_empty_answers_is_mended(name: str) -> None:
    body, problem, mended = REFUSED[name]
    assert [f"{one.code} {one.path}" for one in cw.check(body, "anthropic")] == [problem]
    sent = cw.convert(body, "anthropic", "anthropic")
    assert len(sent.changes) == 1
    assert cw.check(sent.payload, "anthropic") == []
    for path, value in mended.items():
        found: Any = sent.payload
        for step in path.split("."):
            found = found[int(step) if step.isdecimal() else step]
        assert found == value


@pytest.mark.parametrize(
    "body",
    [
        asked(max_tokens=0),
        asked(tools=[{"type": "web_surf_20300101", "name": "Surf"}]),
        asked(tools=[{"type": "computer_toolset_20260801"}]),
        asked(
            {"role": "assistant", "content": [LOOKED]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t1", "content": REFERENCES}],
            },
            {"role": "assistant", "content": [{"type": "text", "text": "So."}]},
            tools=[FIND, {"type": "mcp_toolset", "mcp_server_name": "weather"}],
        ),
    ],
    ids=["only the cache", "a new tool", "a set of tools", "tools of a server"],
)
def test_what_may_be_right_stays(body: dict[str, Any]) -> None:
    assert cw.check(body, "anthropic") == []
    assert cw.convert(body, "anthropic", "anthropic").payload == body
