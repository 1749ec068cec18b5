"""Requests that an API refuses, mended in that API: the whole result, and every change."""

from typing import Any, NamedTuple

import pytest

import contextwright as cw

HI = {"role": "user", "content": "hi"}
SIGNED = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
ANY = {"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "object"}]}
ONE = {"type": "object", "properties": {"a": {"type": "string"}}}
SEARCH = [{"googleSearch": {}}]
NOW = {"name": "g", "input_schema": {"type": "object"}}
COMPACTED = {"type": "compaction", "id": "cmp_1", "encrypted_content": "c2ln"}
TURNS = [{"role": "user", "parts": [{"text": "hi"}]}]


def call(call_id: str, **fields: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}", **fields}


def output(id: str, words: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": words}


def function(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "function", "name": name, **fields}


class Case(NamedTuple):
    format: str
    body: dict[str, Any]
    changed: dict[str, Any]
    """The fields of the body that are different then; None for one that is gone."""
    changes: list[str]
    model: str = ""


def thought(**fields: Any) -> dict[str, Any]:
    return {"type": "reasoning", "id": "r1", "summary": [], **fields}


def answer(**fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "output_text", "text": "yes", **fields}]}


CASES = {
    "wrong values at a host with fields of its own": Case(
        "openai-responses",
        {
            "model": "deepseek-v4-flash",
            "input": [
                {**HI, "status": 5, "mood": "calm"},
                thought(content=[{"type": "reasoning_text", "text": {}}], depth=3),
                answer(annotations=[], role="user"),
            ],
            "tools": [function("f", defer_loading="no", icon="x")],
            "tool_choice": {"type": "function"},
        },
        {
            "input": [
                {**HI, "mood": "calm"},
                thought(depth=3),
                answer(annotations=[]),
            ],
            "tools": [function("f", icon="x")],
            "tool_choice": None,
        },
        [
            "loss.extra messages[0]: the API refuses the value of status",
            "loss.extra messages[1].parts[0]: the API refuses the value of content",
            "loss.extra messages[1].parts[1]: the API refuses the value of role",
            "loss.extra tools[0]: the API refuses the value of defer_loading",
            "loss.setting tool_choice.name: required field is missing",
        ],
    ),
    "the output of a stored call without an id, at another host": Case(
        "openai-responses",
        {
            "model": "deepseek-v4-flash",
            "previous_response_id": "resp_1",
            "input": [HI, output("", "1")],
        },
        {"input": [HI]},
        ["loss.orphan messages[1].parts[0]: its call_id is empty or too long"],
    ),
    "a namespace in a namespace": Case(
        "openai-responses",
        {
            "model": "gpt-5.6-sol",
            "input": [HI],
            "tools": [
                {
                    "type": "namespace",
                    "name": "n",
                    "description": "N",
                    "tools": [function("f"), {"type": "namespace", "name": "m", "tools": []}],
                }
            ],
        },
        {
            "tools": [
                {"type": "namespace", "name": "n", "description": "N", "tools": [function("f")]}
            ]
        },
        ["loss.tool tools[0].tools[1]: a namespace cannot hold 'namespace'"],
    ),
    "an image without an address": Case(
        "openai-responses",
        {
            "model": "gpt-5.6-sol",
            "input": [{"role": "user", "content": [{"type": "input_image", "file_id": ""}]}],
        },
        {"input": [{"role": "user", "content": "[image]"}]},
        ["loss.media messages[0].parts[0]: openai-responses cannot carry image"],
    ),
    "a call among the media of a result": Case(
        "gemini",
        {
            "contents": [
                *TURNS,
                {
                    "role": "model",
                    "parts": [{"functionCall": {"name": "f"}, "thoughtSignature": "c2ln"}],
                },
                {
                    "role": "user",
                    "parts": [
                        {
                            "functionResponse": {
                                "name": "f",
                                "response": {"output": "1"},
                                "parts": [{"functionCall": {"name": "f", "args": {}}}],
                            }
                        }
                    ],
                },
            ]
        },
        {
            "contents": [
                *TURNS,
                {
                    "role": "model",
                    "parts": [{"functionCall": {"name": "f"}, "thoughtSignature": "c2ln"}],
                },
                {
                    "role": "user",
                    "parts": [{"functionResponse": {"name": "f", "response": {"output": "1"}}}],
                },
            ]
        },
        ["loss.opaque messages[2].parts[0].content[1]: gemini does not accept this block"],
        "gemini-3.8-flash",
    ),
    "an id used twice, of which one may be stored": Case(
        "openai-responses",
        {
            "model": "gpt-5.6-sol",
            "previous_response_id": "resp_1",
            "input": [output("a", "stored"), call("a"), output("a", "1"), call("b"), call("b")],
        },
        {"input": [output("a", "stored"), call("a_2"), output("a_2", "1"), call("b"), call("b_2")]},
        [
            "repair.id messages[1].parts[0]: 'a' gets the id 'a_2'",
            "repair.id messages[3].parts[1]: 'b' gets the id 'b_2'",
        ],
    ),
    "ids that are too long, and empty": Case(
        "openai-responses",
        {
            "model": "gpt-5.6-sol",
            "previous_response_id": "resp_1",
            "input": [call(""), output("", "1"), call("a" * 65), call("b")],
        },
        {"input": [call("call"), output("call", "1"), call("a" * 64), call("b")]},
        [
            "repair.id messages[0].parts[0]: '' gets the id 'call'",
            f"repair.id messages[2].parts[0]: '{'a' * 65}' gets the id '{'a' * 64}'",
        ],
    ),
    "outputs before and after a compaction, without calls": Case(
        "openai-responses",
        {
            "model": "gpt-5.6-sol",
            "input": [HI, output("a", "1"), COMPACTED, output("b", "2")],
        },
        {"input": [HI, COMPACTED, output("b", "2")]},
        ["loss.orphan messages[1].parts[0]: answers no call"],
    ),
    "two outputs of a stored call": Case(
        "openai-responses",
        {
            "model": "gpt-5.6-sol",
            "input": [
                {"type": "item_reference", "id": "fc_1"},
                output("a", "one"),
                output("a", "two"),
            ],
        },
        {"input": [{"type": "item_reference", "id": "fc_1"}, output("a", "one")]},
        ["loss.orphan messages[1].parts[1]: another output answers this call"],
    ),
    "names in a namespace, by their own spelling": Case(
        "openai-responses",
        {
            "model": "gpt-5.6-sol",
            "input": [call("a", name="get it", namespace="s" * 60), output("a", "1")],
            "tools": [
                {
                    "type": "namespace",
                    "name": "s" * 60,
                    "description": "d",
                    "tools": [function("get it", parameters=None, strict=None), function("other")],
                }
            ],
            "tool_choice": {"type": "function", "name": "get it"},
        },
        {
            "input": [call("a", name="get_it", namespace="s" * 60), output("a", "1")],
            "tools": [
                {
                    "type": "namespace",
                    "name": "s" * 60,
                    "description": "d",
                    "tools": [function("get_it", parameters=None, strict=None), function("other")],
                }
            ],
            "tool_choice": {"type": "function", "name": "get_it"},
        },
        ["repair.tool_name tools: 'get it' is sent as 'get_it'"],
    ),
    "a forced call without tools": Case(
        "openai-responses",
        {"model": "gpt-5.6-sol", "input": [HI], "tool_choice": "required"},
        {"tool_choice": None},
        ["loss.setting tool_choice: not allowed without tools"],
    ),
    "alternatives at the root of a schema, in Responses": Case(
        "openai-responses",
        {"model": "gpt-5.6-sol", "input": [HI], "tools": [function("f", parameters=ANY)]},
        {"tools": [function("f", parameters=ONE)]},
        ["repair.schema tools[0].parameters: anyOf not allowed at the root of a schema"],
    ),
    "alternatives at the root of a schema, in chat": Case(
        "openai-chat",
        {
            "model": "gpt-5.6-sol",
            "messages": [HI],
            "tools": [{"type": "function", "function": {"name": "f", "parameters": ANY}}],
        },
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": ONE}}]},
        ["repair.schema tools[0].parameters: anyOf not allowed at the root of a schema"],
    ),
    "a cache mark on a deferred tool": Case(
        "anthropic",
        {
            "model": "claude-opus-5",
            "max_tokens": 9,
            "messages": [HI],
            "tools": [
                {
                    "name": "f",
                    "input_schema": {"type": "object"},
                    "defer_loading": True,
                    "cache_control": {"type": "ephemeral"},
                },
                NOW,
            ],
        },
        {"tools": [{"name": "f", "input_schema": {"type": "object"}, "defer_loading": True}, NOW]},
        ["loss.cache_mark tools[0]: a deferred tool is not cached"],
    ),
    "thinking in a turn to go on with, while it is off": Case(
        "anthropic",
        {
            "model": "claude-sonnet-4-5",
            "max_tokens": 9,
            "thinking": {"type": "disabled"},
            "messages": [
                HI,
                {"role": "assistant", "content": [SIGNED]},
                {"role": "assistant", "content": [SIGNED, {"type": "text", "text": "So"}]},
            ],
        },
        {"messages": [HI, {"role": "assistant", "content": [{"type": "text", "text": "So"}]}]},
        [
            "loss.thinking messages[2]: the model does not think in this request",
            "loss.thinking messages[1]: the model does not think in this request",
        ],
    ),
    "adaptive thinking of a model that thinks to a budget": Case(
        "anthropic",
        {
            "model": "claude-sonnet-4-5",
            "max_tokens": 9_000,
            "thinking": {"type": "adaptive"},
            "top_k": 3,
            "messages": [HI],
        },
        {"thinking": {"type": "enabled", "budget_tokens": 8_192}, "top_k": None},
        [
            "repair.setting thinking: claude-sonnet-4-5 does not think adaptively",
            "loss.setting top_k: refused while the model thinks",
        ],
    ),
    "how to call functions, without any": Case(
        "gemini",
        {
            "contents": TURNS,
            "tools": SEARCH,
            "toolConfig": {
                "functionCallingConfig": {"mode": "AUTO"},
                "retrievalConfig": {"languageCode": "uk"},
            },
        },
        {"toolConfig": {"retrievalConfig": {"languageCode": "uk"}}},
        ["loss.setting toolConfig.functionCallingConfig: not allowed without functions"],
        "gemini-2.5-flash",
    ),
    "settings of the wrong type at another host, which may know fields of its own": Case(
        "openai-responses",
        {"model": "x", "input": "hi", "temperature": "warm", "metadata": "", "own": 1},
        {"temperature": None, "metadata": None},
        [
            "loss.setting temperature: openai-responses refuses 'warm'",
            "loss.setting metadata: openai-responses refuses ''",
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_mended(name: str) -> None:
    format, body, changed, changes, model = CASES[name]
    model = model or body["model"]
    refused = [one.code for one in cw.check(body, format, model=model) if one.level == "error"]
    assert refused != []
    rendered = cw.convert(body, format, format, model=model)
    expected = {key: value for key, value in {**body, **changed}.items() if value is not None}
    assert cw.parse(rendered.payload, format) == cw.parse(expected, format)
    assert [str(change) for change in rendered.changes] == changes
    found = cw.check(rendered.payload, format, model=model)
    assert [one.code for one in found if one.level == "error"] == []


UNCHANGED: dict[str, tuple[str, dict[str, Any]]] = {
    "a call in the old style": (
        "openai-chat",
        {
            "model": "gpt-4o",
            "messages": [
                {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
                {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
                {"role": "function", "name": "f", "content": "1"},
            ],
        },
    ),
    "definitions without parameters, a long name, a picture as it is": (
        "openai-responses",
        {
            "model": "gpt-5.6-sol",
            "input": [
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "input_image",
                            "detail": "original",
                            "image_url": "https://e.com/a.png",
                        }
                    ],
                }
            ],
            "tools": [
                function("a", parameters={}, strict=None),
                function("b", parameters=None, strict=False),
                function("c" * 65),
            ],
        },
    ),
}


@pytest.mark.parametrize("name", UNCHANGED)
def test_left_alone(name: str) -> None:
    format, body = UNCHANGED[name]
    rendered = cw.convert(body, format, format)
    assert rendered.payload is body
    assert rendered.changes == ()


@pytest.mark.parametrize(
    ("source", "body", "target"),
    [
        ("openai-chat", {"messages": [HI], "reasoning_effort": "high"}, "openai-responses"),
        ("openai-responses", {"input": [HI], "reasoning": {"effort": "high"}}, "openai-chat"),
    ],
)
def test_what_is_said_to_be_lost_is_not_sent(
    source: str, body: dict[str, Any], target: str
) -> None:
    rendered = cw.convert(body, source, target, model="gpt-4o")
    assert rendered.payload.keys() <= {"model", "messages", "input"}
    lost = [str(change) for change in rendered.changes]
    assert lost == ["loss.setting effort: gpt-4o does not reason"]
