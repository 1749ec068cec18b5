"""Fields and blocks of the vendors' SDKs that clients seldom send, each with what becomes of it."""

from typing import Any

import pytest

import contextwright as cw
from contextwright.formats.tools import HOSTED, KINDS

HI = {"role": "user", "content": "Hi"}
GEMINI_HI = {"role": "user", "parts": [{"text": "Hi"}]}
CLAUDE = {"model": "claude-opus-5", "max_tokens": 100}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "42"}
ACCEPTED: dict[str, dict[str, Any]] = {
    "a thread that goes on": {
        **CLAUDE,
        "thread": {"type": "continue", "previous_message_id": "msg_1"},
        "messages": [{"role": "user", "content": [RESULT]}],
    },
    "the retry of a refused request": {
        **CLAUDE,
        "fallback_credit_token": "token",
        "messages": [HI, {"role": "assistant", "content": "What was streamed"}],
    },
    "a request to compact": {**CLAUDE, "compaction": {"type": "summarize"}, "messages": [HI]},
    "blocks of a reply that go back": {
        **CLAUDE,
        "messages": [
            HI,
            {
                "role": "assistant",
                "content": [
                    {"type": "mcp_tool_listing", "mcp_server_name": "files", "tools": []},
                    {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}},
                    {"type": "text", "text": "Done"},
                ],
            },
            HI,
        ],
    },
}


@pytest.mark.parametrize("body", ACCEPTED.values(), ids=ACCEPTED)
def test_goes_back_as_it_came(body: dict[str, Any]) -> None:
    assert [found for found in cw.check(body, "anthropic") if found.level == "error"] == []
    rendered = cw.convert(body, "anthropic", "anthropic")
    assert (rendered.payload is body, rendered.changes) == (True, ())


def test_hosted_tools_in_one_object_are_translated_one_by_one() -> None:
    tool = {"googleSearch": {}, "googleMaps": {"authConfig": {}}, "codeExecution": {}}
    body = {"contents": [GEMINI_HI], "tools": [tool]}
    rendered = cw.convert(body, "gemini", "openai-responses", model="gpt-5.6-sol")
    assert rendered.payload["tools"] == [
        {"type": "web_search"},
        {"type": "code_interpreter", "container": {"type": "auto"}},
    ]
    assert [str(change) for change in rendered.changes] == [
        "repair.tool tools[0]: openai-responses hosts web search itself",
        "loss.tool tools[0]: googleMaps is hosted by gemini",
        "repair.tool tools[0]: openai-responses hosts code execution itself",
    ]


def test_what_a_hosted_tool_cannot_say_is_said() -> None:
    tool = {"type": "code_interpreter", "container": {"type": "auto", "file_ids": ["file_1"]}}
    body = {"model": "gpt-5.6-sol", "input": "Hi", "tools": [tool]}
    rendered = cw.convert(body, "openai-responses", "anthropic", model="claude-opus-5")
    assert [str(change) for change in rendered.changes if change.path == "tools[0]"] == [
        "repair.tool tools[0]: anthropic hosts code execution itself",
        "loss.extra tools[0]: anthropic has no container",
    ]


def test_the_name_of_a_picture_is_said_where_there_is_no_field_for_it() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo=", "displayName": "me"}}
    body = {"contents": [{"role": "user", "parts": [picture]}]}
    rendered = cw.convert(body, "gemini", "anthropic", model="claude-opus-5")
    assert "loss.name messages[0].parts[0]: anthropic has no name for image" in [
        str(change) for change in rendered.changes
    ]


def test_all_refusals_of_a_chat_message_stay() -> None:
    said = {
        "role": "assistant",
        "content": [{"type": "refusal", "refusal": "No."}],
        "refusal": "Not that either.",
    }
    parsed = cw.parse({"model": "gpt-5.6-sol", "messages": [HI, said, HI]}, "openai-chat")
    assert cw.render(parsed, "openai-chat").payload["messages"][1] == said


def test_a_ban_on_parallel_calls_outlives_a_forced_call() -> None:
    tools = [{"type": "function", "function": {"name": "look"}}]
    body = {
        "model": "gpt-5.6-sol",
        "messages": [HI],
        "tools": tools,
        "tool_choice": {"type": "function", "function": {"name": "look"}},
        "parallel_tool_calls": False,
        "reasoning_effort": "high",
    }
    rendered = cw.convert(body, "openai-chat", "anthropic", model="claude-sonnet-4-5")
    assert rendered.payload["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}


def test_a_ban_on_parallel_calls_goes_with_the_last_tool() -> None:
    body = {
        "model": "gpt-5.6-sol",
        "input": "Hi",
        "tools": [{"type": "local_shell"}],
        "tool_choice": "required",
        "parallel_tool_calls": False,
    }
    rendered = cw.convert(body, "openai-responses", "anthropic", model="claude-opus-4-7")
    assert not {"tools", "tool_choice"} & rendered.payload.keys()
    assert "loss.setting tool_choice: there are no tools" in map(str, rendered.changes)
    assert cw.check(rendered.payload, "anthropic") == []


def test_a_picture_in_a_developer_message_stays_there() -> None:
    parts = [{"type": "input_image", "image_url": "https://example.com/a.png", "detail": "low"}]
    body = {"model": "gpt-5.6-sol", "input": [{"role": "developer", "content": parts}, HI]}
    rendered = cw.convert(body, "openai-responses", "openai-responses")
    assert (rendered.payload is body, rendered.changes) == (True, ())


def test_an_output_after_a_compaction_stays() -> None:
    output = {"type": "function_call_output", "call_id": "call_1", "output": "42"}
    items = [{"type": "compaction", "encrypted_content": "sealed"}, output, HI]
    body = {"model": "gpt-5.6-sol", "input": items}
    assert cw.convert(body, "openai-responses", "openai-responses").payload is body


@pytest.mark.parametrize("type", KINDS)
@pytest.mark.parametrize("target", ["anthropic", "gemini", "openai-responses", "openai-chat"])
def test_a_hosted_tool_in_a_chat_request_is_translated_too(type: str, target: str) -> None:
    """Chat Completions hosts no tools; clients send them all the same."""
    body = {"messages": [HI], "tools": [{"type": type, "name": "x", "max_uses": 3}]}
    rendered = cw.convert(body, "openai-chat", target)
    equal = HOSTED[KINDS[type]].get(target)
    about_tool = [change.code for change in rendered.changes if change.path == "tools[0]"]
    assert about_tool == (["repair.tool", "loss.extra"] if equal else ["loss.tool"])
    assert rendered.payload.get("tools") == ([equal] if equal else None)


@pytest.mark.parametrize(
    ("target", "model"),
    [
        ("anthropic", "claude-sonnet-5-5"),
        ("gemini", "gemini-3.8-flash"),
        ("openai-chat", "gpt-5.6-sol"),
    ],
)
@pytest.mark.parametrize(
    "part",
    [
        {"type": "input_image", "image_url": "https://example.com/p.png"},
        {"type": "input_file", "file_url": "https://example.com/p.pdf"},
    ],
)
def test_a_file_id_beside_an_address_is_a_loss(
    part: dict[str, Any], target: str, model: str
) -> None:
    """The address is sent; that there was an id is said, unless the media are lost as a whole."""
    content = [{**part, "file_id": "file_1"}]
    body = {"model": "gpt-5.6-sol", "input": [{"role": "user", "content": content}]}
    said = [
        change.code
        for change in cw.convert(body, "openai-responses", target, model=model).changes
        if change.path == "messages[0].parts[0]"
    ]
    assert said in (["loss.extra"], ["loss.media"])
    same = cw.convert(body, "openai-responses", "openai-responses")
    assert same.payload["input"][0]["content"] == content


ASKED = {
    "anthropic": {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
    "openai-chat": {"messages": [{"role": "user", "content": "Hi"}]},
    "openai-responses": {"input": "Hi"},
}


@pytest.mark.parametrize(
    ("format", "field", "plain", "other"),
    [
        ("anthropic", "cache_control", {"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}),
        ("anthropic", "context_management", {"edits": []}, {"edits": [{"type": "clear"}]}),
        ("gemini", "generationConfig.candidateCount", 1, 2),
        ("gemini", "generationConfig.mediaResolution", "MEDIA_RESOLUTION_UNSPECIFIED", "LOW"),
        ("gemini", "generationConfig.responseMimeType", "text/plain", "text/x.enum"),
        ("gemini", "generationConfig.responseModalities", ["TEXT"], ["IMAGE"]),
        ("openai-chat", "modalities", ["text"], ["text", "audio"]),
        ("openai-chat", "n", 1, 2),
        ("openai-responses", "truncation", "disabled", "auto"),
    ],
)
def test_a_setting_that_asks_for_the_usual_is_no_loss(
    format: str, field: str, plain: Any, other: Any
) -> None:
    target = "openai-responses" if format == "openai-chat" else "openai-chat"
    holder, _, name = field.rpartition(".")
    for value, lost in ((plain, []), (other, [field])):
        asked = {holder: {name: value}} if holder else {name: value}
        converted = cw.convert({**ASKED[format], **asked}, format, target, model="gpt-5.6-sol")
        assert [one.path for one in converted.changes if one.code == "loss.setting"] == lost


@pytest.mark.parametrize("fields", [{}, {"strict": False}, {"parameters": {"type": "object"}}])
def test_a_function_of_its_own_gets_no_field_that_it_lacks(fields: dict[str, Any]) -> None:
    tools = [{"type": "function", "name": "look", **fields}]
    body = {"model": "gpt-5.6-sol", "input": "Hi", "tools": tools}
    api = "openai-responses"
    assert cw.convert(body, api, api, model="gpt-5.6-sol").payload["tools"] == tools
