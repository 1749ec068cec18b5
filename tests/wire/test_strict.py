"""Strict mode of OpenAI's APIs: schemas that it refuses, and what becomes of them."""

from typing import Any

import pytest

import contextwright as cw

A = {"type": "string"}
CLOSED = {
    "type": "object",
    "properties": {"a": {"anyOf": [A, {"type": "null"}]}},
    "required": ["a"],
    "additionalProperties": False,
}
REFUSED: dict[str, dict[str, Any]] = {
    "open": {**CLOSED, "additionalProperties": True},
    "silent about others": {key: CLOSED[key] for key in ("type", "properties", "required")},
    "optional": {**CLOSED, "required": []},
    "open inside": {**CLOSED, "properties": {"a": {"type": "object", "properties": {}}}},
    "oneOf": {**CLOSED, "properties": {"a": {"oneOf": [A]}}},
}
HI = {"role": "user", "content": "hi"}


def body(place: str, schema: dict[str, Any]) -> dict[str, Any]:
    """A request that asks for strict mode."""
    form = {"name": "f", "strict": True}
    return {
        "chat tool": {
            "messages": [HI],
            "tools": [{"type": "function", "function": {**form, "parameters": schema}}],
        },
        "chat output": {
            "messages": [HI],
            "response_format": {"type": "json_schema", "json_schema": {**form, "schema": schema}},
        },
        "responses tool": {
            "input": [HI],
            "tools": [{"type": "function", **form, "parameters": schema}],
        },
        "responses output": {
            "input": [HI],
            "text": {"format": {"type": "json_schema", **form, "schema": schema}},
        },
    }[place]


@pytest.mark.parametrize(
    "place", ["chat tool", "chat output", "responses tool", "responses output"]
)
def test_strict_schemas(place: str) -> None:
    format = f"openai-{place.split()[0]}"
    code = {"openai-chat": "OC-strict", "openai-responses": "OR-strict"}[format]
    accepted = {"model": "gpt-4o", **body(place, CLOSED)}
    assert cw.check(accepted, format) == []
    assert cw.convert(accepted, format, format).payload is accepted
    for schema in REFUSED.values():
        refused = {"model": "gpt-4o", **body(place, schema)}
        assert [(one.code, one.level) for one in cw.check(refused, format)] == [(code, "error")]
        mended = cw.convert(refused, format, format)
        assert [change.code for change in mended.changes] == ["loss.strict"]
        assert b'"strict":true' not in mended.json
        assert cw.check(mended.payload, format) == []
        elsewhere = {**refused, "model": "llama-9"}
        assert [(one.code, one.level) for one in cw.check(elsewhere, format)] == [(code, "warning")]
        assert cw.convert(elsewhere, format, format).payload is elsewhere
