"""What errors, changes and problems quote."""

from typing import Any, cast

import pytest

import contextwright as cw
from contextwright import formats
from contextwright.errors import SHOWN, shown
from strategies.bodies import MODELS, fixed_bodies


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError("it cannot show itself")


def test_a_value_that_python_cannot_write_is_quoted_by_its_type() -> None:
    assert shown(10**5000) == "a value of type int"
    assert shown([10**5000]) == "a value of type list"
    assert shown(Broken()) == "a value of type Broken"
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    assert shown(nested) == "a deeply nested list"


def test_a_long_value_is_cut() -> None:
    assert len(shown("x" * 1_000)) == SHOWN


LONG = "x" * 10_000
CALL = {"id": LONG, "type": "function", "function": {"name": LONG, "arguments": LONG}}
BODIES: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "model": "gpt-4o",
        "messages": [
            {"role": "user", "name": LONG, "content": [{"type": LONG, LONG: LONG}], LONG: LONG},
            {"role": "assistant", "content": None, "tool_calls": [CALL, CALL]},
            {"role": "tool", "tool_call_id": f"{LONG}y", "content": LONG},
        ],
        "tools": [{"type": "function", "function": {"name": LONG}}] * 2,
        "tool_choice": {"type": "function", "function": {"name": f"{LONG}z"}},
        "temperature": LONG,
        "stop": [LONG] * 9,
    },
    "anthropic": {
        "model": "claude-sonnet-5-5",
        "max_tokens": 3,
        "system": [{"type": "text", "text": LONG, LONG: 1}],
        "messages": [
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": LONG, "name": LONG, "input": {}}] * 2,
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": f"{LONG}z", "content": LONG},
                    {"type": LONG},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": LONG, "data": LONG},
                    },
                ],
            },
        ],
        "tools": [{"name": LONG, "input_schema": {"type": "object", "required": [LONG]}}] * 2,
        "tool_choice": {"type": "tool", "name": LONG},
    },
    "gemini": {
        "contents": [
            {"role": "model", "parts": [{"functionCall": {"name": LONG, "args": {}}}]},
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": f"{LONG}a", "response": {}}},
                    {"inlineData": {"mimeType": LONG, "data": LONG}},
                ],
            },
        ],
        "tools": [{"functionDeclarations": [{"name": LONG, "parameters": {"type": LONG}}] * 2}],
    },
    "openai-responses": {
        "model": "gpt-5",
        "input": [
            {"type": LONG},
            {"type": "function_call", "call_id": LONG, "name": LONG, "arguments": LONG},
            {"type": "function_call_output", "call_id": f"{LONG}a", "output": LONG},
            {"role": "user", "content": [{"type": LONG}]},
            {"type": "item_reference", "id": LONG},
        ],
        "tools": [{"type": LONG}, {"type": "function", "name": LONG}],
        "previous_response_id": LONG,
    },
}


@pytest.mark.parametrize("target", formats.NAMES)
@pytest.mark.parametrize("source", BODIES)
def test_changes_and_problems_quote_little(source: str, target: str) -> None:
    body = BODIES[source]
    rendered = cw.convert(body, source, target)
    said = [str(problem) for problem in cw.check(body, source)]
    said += [str(change) for change in rendered.changes]
    assert len(said) > 3
    assert max(map(len, said)) < 500
    assert all("\n" not in words for words in said)


@pytest.mark.parametrize("source", MODELS)
def test_a_field_with_a_long_name_is_named_in_short(source: str) -> None:
    """Wherever it stands."""
    for body in fixed_bodies(source, 2):
        for holder in objects_in(body):
            holder[LONG] = LONG
            said = [str(problem) for problem in cw.check(body, source)]
            for target, (model, *_) in MODELS.items():
                rendered = cw.convert(body, source, target, model=model)
                said += [str(change) for change in rendered.changes]
            del holder[LONG]
            assert max(map(len, said)) < 500


def objects_in(value: Any) -> list[dict[str, Any]]:
    """All objects of a body, from the outside in."""
    if isinstance(value, list):
        return [found for inner in cast("list[Any]", value) for found in objects_in(inner)]
    if not isinstance(value, dict):
        return []
    fields = cast("dict[str, Any]", value)
    return [fields, *(found for inner in fields.values() for found in objects_in(inner))]


def test_a_field_of_nothing_but_zero_is_named_as_lost() -> None:
    told = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a", "weight": 0}]
    rendered = cw.convert({"model": "gpt-4o", "messages": told}, "openai-chat", "openai-chat")
    assert [str(change) for change in rendered.changes] == [
        "loss.extra messages[1]: OpenAI's own models refuse weight"
    ]
