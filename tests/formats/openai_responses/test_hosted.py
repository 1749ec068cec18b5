"""OpenAI Responses: hosted tools, their calls and what answers them."""

from typing import Any

import pytest

import contextwright as cw
from contextwright import Opaque
from samples.responses import MODEL, NAME, USER, body

HOSTED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "shell_call": ({"action": {"commands": ["ls"]}}, ["shell_call_output"]),
    "apply_patch_call": (
        {"operation": {"type": "delete_file", "path": "a"}, "status": "completed"},
        ["apply_patch_call_output"],
    ),
    "tool_search_call": (
        {"arguments": {"q": 1}, "execution": "client"},
        ["tool_search_output", "function_call_output"],
    ),
}
"""Calls of hosted tools that a client answers, each with what answers it."""
ANSWERS: dict[str, dict[str, Any]] = {
    "shell_call_output": {"output": []},
    "apply_patch_call_output": {"status": "completed"},
    "tool_search_output": {"tools": [], "execution": "client"},
    "function_call_output": {"output": "none"},
}


@pytest.mark.parametrize("output", ANSWERS)
@pytest.mark.parametrize("call", HOSTED)
def test_a_hosted_call_is_answered_by_its_own_kind_of_item(call: str, output: str) -> None:
    fields, answers = HOSTED[call]
    asked = {"type": call, "call_id": "c1", **fields}
    answered = {"type": output, "call_id": "c1", **ANSWERS[output]}
    said = [cw.assistant(Opaque(NAME, asked)), cw.user(Opaque(NAME, answered))]
    rendered = cw.render([cw.user("q"), *said, cw.user("x")], NAME, model=MODEL)
    items = [item for item in rendered.payload["input"] if "type" in item]
    assert items == ([asked, answered] if output in answers else [])


@pytest.mark.parametrize(
    ("tool", "codes"),
    [
        ({"type": "telepathy_call", "x": [1]}, []),
        ({"type": "web_search", "search_context_size": "low"}, []),
        ({"type": "mcp"}, ["loss.tool"]),
    ],
)
def test_a_hosted_tool_is_kept_if_it_is_whole_or_new(
    tool: dict[str, Any], codes: list[str]
) -> None:
    rendered = cw.render(cw.parse(body(USER, tools=[tool]), NAME), NAME)
    assert rendered.payload.get("tools", []) == ([] if codes else [tool])
    assert [change.code for change in rendered.changes] == codes


@pytest.mark.parametrize("call", HOSTED)
def test_partners_of_hosted_items_may_be_stored(call: str) -> None:
    """Beside a reference: what it stands for is not in the request. Reasoning answers nothing."""
    fields, answers = HOSTED[call]
    asked = {"type": call, "call_id": "c1", **fields}
    answered = {"type": answers[0], "call_id": "c2", **ANSWERS[answers[0]]}
    said = [cw.assistant(Opaque(NAME, asked)), cw.user(Opaque(NAME, answered))]
    for id, is_partner in (("fc_1", True), ("rs_1", False)):
        stored = {"type": "item_reference", "id": id}
        beside = cw.assistant(Opaque(NAME, stored))
        rendered = cw.render([cw.user("q"), beside, *said, cw.user("x")], NAME, model=MODEL)
        items = [item for item in rendered.payload["input"] if "type" in item]
        assert items == ([stored, asked, answered] if is_partner else [])
