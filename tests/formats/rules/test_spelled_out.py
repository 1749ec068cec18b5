"""Requests as agent frameworks write them: what they only spell out is not a loss."""

from typing import Any

import pytest

import contextwright as cw

MODELS = {
    "anthropic": "claude-sonnet-5-5",
    "gemini": "gemini-3.8-flash",
    "openai-chat": "gpt-5.6-sol",
    "openai-responses": "gpt-5.6-sol",
}
SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
PROTO = {"type": "OBJECT", "properties": {"word": {"type": "STRING"}}, "required": ["word"]}

ITEMS = {
    "model": "gpt-5.6-sol",
    "input": [
        {"type": "message", "role": "system", "content": "You print."},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Both."}]},
        {
            **{"type": "message", "role": "assistant", "id": "msg_1", "status": "completed"},
            "content": [{"type": "output_text", "text": "Wait.", "annotations": []}],
        },
        {
            **{"type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed"},
            **{"name": "print_word", "arguments": '{"word":"alpha"}'},
        },
        {"type": "function_call_output", "call_id": "call_1", "output": "alpha"},
    ],
    "instructions": None,
    "include": None,
    "metadata": None,
    "parallel_tool_calls": True,
    "store": False,
    "truncation": "disabled",
    "user": None,
    "tools": [
        {"type": "function", "name": "print_word", "parameters": SCHEMA, "strict": False},
    ],
}
CONTENTS = {
    "systemInstruction": {"role": "user", "parts": [{"text": "You print."}]},
    "contents": [
        {"role": "user", "parts": [{"text": "Both."}]},
        {
            "role": "model",
            "parts": [
                {
                    "functionCall": {"name": "print_word", "args": {"word": "alpha"}},
                    "thoughtSignature": "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=",
                }
            ],
        },
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "print_word", "response": {"is": "alpha"}}}],
        },
    ],
    "tools": [
        {"functionDeclarations": [{"name": "print_word", "parameters": PROTO}]},
        {"functionDeclarations": [{"name": "stop", "parameters": {"type": "OBJECT"}}]},
    ],
    "generationConfig": {"candidateCount": 1, "responseModalities": ["TEXT"], "temperature": 1},
}
MESSAGES = {
    "model": "gpt-5.6-sol",
    "n": 1,
    "temperature": 1,
    "messages": [
        {"role": "developer", "content": "You print."},
        {"role": "user", "content": "Both."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    **{"id": "call_1", "type": "function"},
                    "function": {"name": "print_word", "arguments": '{"word":"alpha"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "name": "print_word", "content": "alpha"},
    ],
    "tools": [
        {
            "type": "function",
            "function": {"name": "print_word", "parameters": SCHEMA, "strict": False},
        }
    ],
}
BLOCKS = {
    "model": "claude-sonnet-5-5",
    "max_tokens": 4_096,
    "temperature": 1.0,
    "messages": [{"role": "user", "content": "Both."}],
    "tools": [{"type": "custom", "name": "print_word", "input_schema": SCHEMA}],
    "context_management": {"edits": []},
}


@pytest.mark.parametrize("target", MODELS)
@pytest.mark.parametrize(
    ("body", "source"),
    [
        pytest.param(ITEMS, "openai-responses", id="items with types, ids and nulls"),
        pytest.param(CONTENTS, "gemini", id="schemas in Gemini's dialect, two groups of tools"),
        pytest.param(MESSAGES, "openai-chat", id="names of results, a developer"),
        pytest.param(BLOCKS, "anthropic", id="tools of the type custom"),
    ],
)
def test_what_is_only_spelled_out_is_not_a_loss(body: Any, source: str, target: str) -> None:
    changes = cw.convert(body, source, target, model=MODELS[target]).changes
    assert [str(change) for change in changes if change.code.startswith("loss.")] == []


def test_a_schema_that_says_something_else_is_a_loss() -> None:
    own = {"name": "f", "parameters": PROTO, "parametersJsonSchema": {"type": "object"}}
    body = {**CONTENTS, "tools": [{"functionDeclarations": [own]}]}
    changes = cw.convert(body, "gemini", "openai-chat", model="gpt-5.6-sol").changes
    assert [str(change) for change in changes if change.code.startswith("loss.")] == [
        "loss.extra tools[0]: openai-chat has no parameters"
    ]


def test_an_item_that_was_not_completed_is_said() -> None:
    item = {**ITEMS["input"][2], "status": "incomplete"}
    body = {**ITEMS, "input": [*ITEMS["input"][:2], item, ITEMS["input"][1]]}
    changes = cw.convert(body, "openai-responses", "gemini", model="gemini-3.8-flash").changes
    assert [str(change) for change in changes] == [
        "loss.extra messages[2].parts[0]: gemini has no place for status"
    ]
