"""Calls of hosted tools, and calls of one id, where what answered them is lost."""

from typing import Any

import pytest

import contextwright as cw

MODEL = "claude-sonnet-5-5"
ASK = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
MORE = {"role": "user", "content": [{"type": "text", "text": "[continue]"}]}
SEARCH = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}
CALL = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "1"}
UNRECORDED = {**RESULT, "content": "[no result recorded]", "is_error": True}
SAID = {"type": "text", "text": "Found."}
OPEN = "loss.opaque messages[1].parts[0]: a hosted call that never got its result"
TURN = "invent.user_turn messages[1]: claude-sonnet-5-5 needs a user turn at the end"
UNKNOWN = "anthropic does not accept this block"

CASES: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]], list[str]]] = {
    "a question of which nothing is left": (
        [ASK, {"role": "assistant", "content": [SEARCH, SAID]}, {"role": "user", "content": [{}]}],
        [
            ASK,
            {"role": "assistant", "content": [SAID]},
            MORE,
        ],
        [f"loss.opaque messages[2].parts[0]: {UNKNOWN}", OPEN, TURN],
    ),
    "a result whose call is lost": (
        [
            ASK,
            {"role": "assistant", "content": [SEARCH, SAID, {**CALL, "type": None}]},
            {"role": "user", "content": [RESULT]},
        ],
        [
            ASK,
            {"role": "assistant", "content": [SAID]},
            MORE,
        ],
        [
            f"loss.opaque messages[1].parts[2]: {UNKNOWN}",
            "loss.orphan messages[2].parts[0]: answers no call",
            TURN,
            OPEN,
        ],
    ),
    "two calls of one id in one turn of two messages": (
        [
            ASK,
            {"role": "assistant", "content": [CALL]},
            {"role": "assistant", "content": [CALL]},
            {"role": "user", "content": [RESULT, RESULT]},
        ],
        [
            ASK,
            {"role": "assistant", "content": [CALL]},
            {"role": "assistant", "content": [{**CALL, "id": "t1_2"}]},
            {"role": "user", "content": [RESULT, {**RESULT, "tool_use_id": "t1_2"}]},
        ],
        ["repair.id messages[2].parts[0]: 't1' gets the id 't1_2'"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_left_is_accepted(name: str) -> None:
    messages, expected, changes = CASES[name]
    body = {"model": MODEL, "max_tokens": 9, "messages": messages}
    mended = cw.convert(body, "anthropic", "anthropic")
    assert mended.payload["messages"] == expected
    assert [str(change) for change in mended.changes] == changes
    found = cw.check(mended.payload, "anthropic")
    assert [str(one) for one in found if one.level == "error"] == []
