"""Fields whose name has no letters, which other tools allow and no provider takes."""

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
def test_a_field_without_a_name_is_left_out_and_said(
    format: str, body: dict[str, Any], kept: dict[str, Any]
) -> None:
    field = "contents" if format == "gemini" else "messages"
    rendered = cw.convert({field: [{"role": "user", **body}]}, format, format)
    kept = {key: [without_empty(one) for one in value] for key, value in kept.items()}
    assert rendered.payload[field] == [{"role": "user", **kept}]
    assert [change.code for change in rendered.changes if change.code.startswith("loss.")]


def without_empty(block: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in block.items() if name}
