"""Arguments of a call that come in pieces, each at a path."""

from typing import Any

import pytest

from contextwright.formats.gemini.partial_args import put


@pytest.mark.parametrize(
    ("held", "steps", "value", "expected"),
    [
        ({}, ["a"], 1, {"a": 1}),
        ({"a": "so"}, ["a"], "up", {"a": "soup"}),
        ({}, ["a", 1, "b"], True, {"a": [None, {"b": True}]}),
        ({}, ["0"], 1, {"0": 1}),
        ({"a": {}}, ["a", 0], 1, {"a": {"0": 1}}),
        ({"a": "soup"}, ["a", "b"], 1, {"a": "soup"}),
        ({"a": [1]}, ["a", "b"], 1, {"a": [1]}),
    ],
)
def test_a_piece_at_a_path(
    held: Any, steps: list[str | int], value: Any, expected: dict[str, Any]
) -> None:
    """A path through what is neither an object nor a list leads nowhere."""
    put(held, steps, value)
    assert held == expected
