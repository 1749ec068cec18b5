"""Arguments in which a key stands twice: the last counts, and the other is not lost in silence."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.text.json import repeated_keys

TWICE = '{"city": "Kyiv", "days": {"n": 1, "n": 2}, "city": "Lviv"}'
FORGE = '<tool>{"server_name":"local","tool_name":"look","arguments":' + TWICE + "}</tool>"
ASK: dict[str, Any] = {"role": "user", "content": "Rain?"}
BODIES: dict[str, Any] = {
    "openai-chat": {
        "model": "gpt-4o",
        "messages": [
            ASK,
            {
                "role": "assistant",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "look", "arguments": TWICE},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "No."},
        ],
    },
    "openai-responses": {
        "model": "gpt-4o",
        "input": [
            ASK,
            {"type": "function_call", "call_id": "c1", "name": "look", "arguments": TWICE},
            {"type": "function_call_output", "call_id": "c1", "output": "No."},
        ],
    },
    "forge": [
        {"role": "system", "content": "Help."},
        ASK,
        {"role": "assistant", "content": FORGE},
        {"role": "tool", "content": "Tool: look\nNo rain."},
    ],
}


@pytest.mark.parametrize("format", BODIES)
def test_a_repeated_key_is_named(format: str) -> None:
    sent = cw.convert(BODIES[format], format, "anthropic")
    [call] = [
        block
        for message in sent.payload["messages"]
        for block in message["content"]
        if block["type"] == "tool_use"
    ]
    assert call["input"] == {"city": "Lviv", "days": {"n": 2}}
    named = " ".join(one.reason for one in sent.changes if one.code.startswith("repair."))
    assert "'city'" in named
    assert "'n'" in named
    assert cw.convert(BODIES[format], format, format).payload == BODIES[format]
    assert "error" not in {one.level for one in cw.check(BODIES[format], format)}


KEYS = st.sampled_from(("a", "b:", '"', "\u003a", "n"))


@given(st.recursive(st.none() | KEYS, lambda one: st.lists(st.tuples(KEYS, one), max_size=4)))
def test_every_repeated_key_is_found(value: Any) -> None:
    expected: set[str] = set()

    def written(value: Any) -> str:
        if not isinstance(value, list):
            return json.dumps(value)
        keys = [key for key, _ in value]
        expected.update(key for key in keys if keys.count(key) > 1)
        return "{" + ", ".join(f"{json.dumps(key)}:{written(one)}" for key, one in value) + "}"

    text = written(value)
    assert set(repeated_keys(text, json.loads(text))) == expected
