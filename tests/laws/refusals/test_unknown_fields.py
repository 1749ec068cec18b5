"""A field that an API does not know costs nothing but itself, except in a provider's own block."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from profiles import BODY, examples, often
from strategies.bodies import MODELS, bodies

CONTENTS = ("messages", "input", "contents")
PIECES = ("content", "parts", "tool_calls")
OPAQUE = (
    *("server_tool_use", "web_search_tool_result", "search_result", "document"),
    *("executableCode", "codeExecutionResult"),
)
"""Blocks that only the provider knows, which are sent as they came or not at all."""


@pytest.mark.parametrize("api", MODELS)
def test_an_unknown_field_costs_nothing_else(api: str) -> None:
    left_out: list[bool] = []

    @examples(BODY)
    @given(bodies(api), st.randoms(use_true_random=False))
    def law(body: dict[str, Any], random: Any) -> None:
        model = body.get("model", MODELS[api][0])
        marked = copy.deepcopy(body)
        holder = random.choice([*holders(marked)] or [marked])
        holder["x_trace"] = "¶0"
        made = cw.convert(marked, api, api, model=model)
        left_out.append("x_trace" not in made.json.decode())
        if left_out[-1]:
            expected = cw.render(cw.parse(body, api), api, model=model).payload
            assert cw.parse(made.payload, api) == cw.parse(expected, api)

    law()
    assert often(left_out)


def holders(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The messages of a body, and their parts, that are not the provider's own."""
    for field in CONTENTS:
        for message in body.get(field, ()) if isinstance(body.get(field), list) else ():
            if "role" in message and message.get("type") != "additional_tools":
                yield message
            for pieces in PIECES:
                found = message.get(pieces)
                for piece in found if isinstance(found, list) else ():
                    if piece.get("type") not in OPAQUE and not any(key in OPAQUE for key in piece):
                        yield piece
