"""Where a history goes on: digests of what was said, the same for every spelling of it."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import contextwright as cw
from contextwright.store.rows.recorded.places import Trail


def last_of(*messages: cw.Message) -> str:
    return Trail("").followed_by((cw.user("go"), *messages)).digests[-1]


def test_words_of_one_speaker_are_one_text() -> None:
    assert last_of(cw.assistant("ab"), cw.assistant("c")) == last_of(cw.assistant(["a", "bc"]))
    assert last_of(cw.assistant("ab")) != last_of(cw.user("ab"))


def test_results_and_calls_stay_apart() -> None:
    """Whatever two results say, other two that say the same together are another history."""

    def results(first: str, second: str) -> str:
        return last_of(cw.tool_result("1", first), cw.tool_result("2", second))

    assert results("ab", "c") == results("ab", "c ")
    assert results("ab", "c") != results("a", "bc")
    assert last_of(cw.tool_result("1", "ab", is_error=True)) != last_of(cw.tool_result("1", "ab"))


def test_only_what_everyone_can_read_is_said() -> None:
    """Clients leave thinking out of the history that they send again."""
    seal = cw.Opaque("anthropic", {"type": "redacted_thinking", "data": "x"})
    hidden = cw.assistant([cw.Thinking("hm"), cw.Text("ab"), seal])
    assert last_of(hidden) == last_of(cw.assistant("ab"))
    pictures = [cw.Media("image", url=f"https://x.org/{name}.png") for name in "ab"]
    assert len({last_of(cw.user([picture])) for picture in pictures}) == 2


def test_words_and_calls_of_one_answer_stand_in_any_order() -> None:
    """Some frameworks keep the words of an answer apart from its calls."""
    words, calls = cw.Text("Wait."), [cw.ToolCall("f", {"n": n}, str(n)) for n in (1, 2)]
    assert last_of(cw.assistant([words, *calls])) == last_of(cw.assistant([*calls, words]))
    assert last_of(cw.assistant(calls)) != last_of(cw.assistant(calls[::-1]))


def test_a_result_that_is_sent_twice_is_said_once() -> None:
    """Gemini CLI does so when a session is resumed."""
    one, other = cw.ToolResult("1", "42"), cw.ToolResult("2", "42")

    def results(*parts: cw.ToolResult) -> str:
        return last_of(cw.Message("tool", parts))

    assert results(one, other, one, other) == results(one, other)
    assert results(one, cw.ToolResult("1", "43")) != results(one)
    assert len({results(one), results(one, other), results(cw.ToolResult("", "42"), one)}) == 2


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
FOUND = {
    "type": "search_result",
    "source": "s",
    "title": "t",
    "content": [{"type": "text", "text": "One"}],
}
CLICK: dict[str, Any] = {
    "type": "computer_call",
    "call_id": "1",
    "action": {"type": "click", "x": 1, "y": 1},
}
SCREEN = {"type": "computer_screenshot", "image_url": "data:image/png;base64,AAAA"}
SHOT = {"type": "computer_call_output", "call_id": "1", "output": SCREEN}
LISTED = {"type": "local_shell_call_output", "call_id": "1", "output": "One"}


def in_anthropic(block: dict[str, Any]) -> list[cw.Message]:
    """A block in a question."""
    turns = [{"role": "user", "content": [block]}]
    return [*cw.parse({"messages": turns}, "anthropic").messages]


def in_result(block: dict[str, Any]) -> list[cw.Message]:
    """A block in the result of a call."""
    return in_anthropic({"type": "tool_result", "tool_use_id": "1", "content": [block]})


def in_responses(item: dict[str, Any]) -> list[cw.Message]:
    """An item among those of a request."""
    return [*cw.parse({"input": [item]}, "openai-responses").messages]


@pytest.mark.parametrize(
    ("read", "block", "otherwise", "others"),
    [
        (in_result, IMAGE, {"cache_control": {}}, ("AAAA", "BBBB")),
        (in_result, {"type": "tool_reference", "tool_name": "One"}, {}, ("One", "Two")),
        (in_anthropic, FOUND, {"cache_control": {}}, ("One", "Two")),
        (in_responses, CLICK, {"id": "cu_1", "pending_safety_checks": []}, ('"y": 1', '"y": 2')),
        (in_responses, CLICK, {"action": {**CLICK["action"], "keys": None}}, ('"x": 1', '"x": 2')),
        (in_responses, SHOT, {"call_id": "2", "id": "o_1"}, ("AAAA", "BBBB")),
        (in_responses, LISTED, {"status": "completed"}, ("One", "Two")),
    ],
)
def test_what_a_client_has_to_send_is_said_in_whatever_form(
    read: Callable[[dict[str, Any]], list[cw.Message]],
    block: dict[str, Any],
    otherwise: dict[str, Any],
    others: tuple[str, str],
) -> None:
    """Images in results, and a provider's own items of which an answer is another question."""
    same, other = {**block, **otherwise}, json.loads(json.dumps(block).replace(*others))
    assert last_of(*read(block)) == last_of(*read(same))
    assert last_of(*read(block)) != last_of(*read(other))
