"""Where a history goes on: digests of what was said, the same for every spelling of it."""

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
