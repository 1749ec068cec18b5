"""Where reading can begin in the middle of a request: what comes before and after is the same."""

from itertools import product
from typing import Any

import contextwright as cw
from contextwright.formats.openai_responses.read import last_start

ITEMS: dict[str, dict[str, Any]] = {
    "user": {"role": "user", "content": "Hi"},
    "developer": {"role": "developer", "content": "Be kind."},
    "answer": {"role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]},
    "no answer": {"role": "assistant", "content": []},
    "thinking": {"type": "reasoning", "id": "rs_1", "summary": []},
    "call": {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
    "output": {"type": "function_call_output", "call_id": "c1", "output": "1"},
    "search": {"type": "web_search_call", "id": "ws_1", "status": "completed"},
    "tools": {"type": "additional_tools", "tools": []},
}


def messages(items: list[Any]) -> tuple[cw.Message, ...]:
    return cw.parse({"model": "gpt-5.6-sol", "input": items}, "openai-responses").messages


def test_a_request_can_be_read_in_two_pieces() -> None:
    cuts = 0
    for kinds in product(ITEMS, repeat=3):
        items = [ITEMS["user"], *(ITEMS[kind] for kind in kinds), ITEMS["user"]]
        for most in range(1, len(items) + 1):
            cut = last_start(items, most)
            assert cut <= most
            if cut:
                assert messages(items[:cut]) + messages(items[cut:]) == messages(items), kinds
                cuts += 1
    assert cuts > 1_000


def test_the_last_place_is_found() -> None:
    chat = [ITEMS[kind] for kind in "user answer user thinking call output answer user".split()]
    assert [last_start(chat, most) for most in range(9)] == [0, 1, 2, 3, 3, 5, 6, 7, 7]
    assert last_start([*chat, ITEMS["tools"]], 7) == 0
    assert last_start([ITEMS["developer"], ITEMS["answer"]], 1) == 0
    assert last_start([ITEMS["user"], "odd", ITEMS["user"]], 2) == 2
