"""Fields whose name is empty, or like a path: other tools allow them, no provider takes them."""

from typing import Any

import pytest

import contextwright as cw

TEXT = {"type": "text", "text": "a"}
BLOCK = {"type": "search_result", "source": "s", "title": "t", "content": [{**TEXT, "": 1}], "": 2}


@pytest.mark.parametrize(
    ("format", "body", "kept"),
    [
        ("gemini", {"parts": [{"": None}, {"text": "a"}]}, {"parts": [{"text": "a"}]}),
        (
            "gemini",
            {"parts": [{"executableCode": {"language": "PYTHON", "code": "1", "": 1}}]},
            {"parts": [{"executableCode": {"language": "PYTHON", "code": "1"}}]},
        ),
        (
            "anthropic",
            {"content": [BLOCK]},
            {"content": [{**BLOCK, "content": [TEXT]}]},
        ),
    ],
)
@pytest.mark.parametrize("name", ["", "[[[]]]", "a.b", "[0]", ".", "parts[0].text"])
def test_a_field_with_an_odd_name_is_left_out_and_said(
    format: str, body: dict[str, Any], kept: dict[str, Any], name: str
) -> None:
    field = "contents" if format == "gemini" else "messages"
    given = renamed({"role": "user", **body}, name)
    rendered = cw.convert({field: [given]}, format, format)
    kept = {key: [without_empty(one) for one in value] for key, value in kept.items()}
    assert rendered.payload[field] == [{"role": "user", **kept}]
    assert [change.code for change in rendered.changes if change.code.startswith("loss.")]


def renamed(value: Any, name: str) -> Any:
    """The value, with this name for every field that has none."""
    if isinstance(value, list):
        return [renamed(one, name) for one in value]  # pyright: ignore
    if isinstance(value, dict):
        return {key or name: renamed(one, name) for key, one in value.items()}  # pyright: ignore
    return value


def without_empty(block: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name}
