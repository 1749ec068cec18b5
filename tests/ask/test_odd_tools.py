"""Whatever a function does or a model writes, the answer is stored and the next request legal."""

import asyncio
import datetime
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import contextwright as cw
from contextwright.ask import record_of
from contextwright.providers import Script

FORMATS = {
    "openai-chat": "gpt-5.6-sol",
    "openai-responses": "gpt-5.6-sol",
    "anthropic": "claude-sonnet-5-5",
    "gemini": "gemini-3.8-flash",
}


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[cw.Chat]:
    with cw.Store(str(tmp_path / "chat.db")) as store:
        yield store.conversation("odd")


def nested(depth: int) -> dict[str, Any]:
    return {"a": nested(depth - 1)} if depth else {}


def result_of(chat: cw.Chat, function: Any, format: str = "openai-chat") -> cw.ToolResult:
    """What the model gets to see of a call, after checks of the whole question."""
    call = cw.assistant([cw.ToolCall("tool", {}, "c1")])
    script = Script([call, cw.assistant("Done.")], format)
    answer = chat.ask("Go!", model=FORMATS[format], tools=[function], provider=script)
    assert (answer.finish, answer.text) == ("stop", "Done.")
    for payload in script.requests:
        problems = cw.check(payload, format, model=FORMATS[format])
        assert [problem for problem in problems if problem.level == "error"] == []
    assert [stored.message.role for stored in chat.read()] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    (result,) = next(chat.read(3, 4)).message.parts
    assert isinstance(result, cw.ToolResult)
    return result


RETURNED: dict[str, tuple[Any, Any]] = {
    "NUL": ("a\0b", "a\ufffdb"),
    "half a character": ("a\ud83d", "a\ufffd"),
    "two halves": ("\ud83d\ude00", "\U0001f600"),
    "NUL in an object": ({"a\0": ["\0"]}, {"a\ufffd": ["\ufffd"]}),
    "NaN": (math.nan, "null"),
    "NaN in an object": ({"a": math.inf}, '{"a":null}'),
    "a deep object": (nested(150), '{"a":' * 150 + "{}" + "}" * 150),
    "a large number": (10**100, str(10**100)),
    "a time": (datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), "2026-01-01T00:00:00Z"),
    "nothing": (None, ""),
    "no items": ([], "[]"),
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", RETURNED)
def test_what_a_function_may_return(chat: cw.Chat, name: str, format: str) -> None:
    value, expected = RETURNED[name]

    def tool() -> Any:
        return value

    result = result_of(chat, tool, format)
    assert (result.content, result.is_error) == (expected, False)


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("not even that")


LOOP: list[Any] = []
LOOP.append(LOOP)
WRONG: dict[str, Any] = {
    "a loop": LOOP,
    "an object": object(),
    "a very large number": 10**5_000,
    "a very large number in an object": {"a": 10**5_000},
    "text that is a number": [cw.Text(5)],  # pyright: ignore[reportArgumentType]
}


@pytest.mark.parametrize("name", WRONG)
def test_what_no_result_can_hold_is_an_error_of_the_call(chat: cw.Chat, name: str) -> None:
    def tool() -> Any:
        return WRONG[name]

    result = result_of(chat, tool)
    assert result.is_error
    assert "not JSON" in result.text


@pytest.mark.parametrize("later", [False, True], ids=["in a thread", "in the loop"])
@pytest.mark.parametrize(
    "error",
    [
        Mute(),
        ValueError("\0\ud800"),
        SystemExit(3),
        GeneratorExit(),
        StopIteration(),
        StopAsyncIteration(),
        asyncio.CancelledError(),
        TimeoutError("mine"),
        BaseExceptionGroup("two", [SystemExit()]),
        RecursionError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_a_function_raises_is_its_result(
    chat: cw.Chat, error: BaseException, later: bool
) -> None:
    def tool() -> None:
        raise error

    async def tool_too() -> None:
        raise error

    tool_too.__name__ = "tool"
    result = result_of(chat, tool_too if later else tool)
    assert result.is_error
    name = "StopIteration" if isinstance(error, StopIteration) else type(error).__name__
    assert name in result.text


def test_ctrl_c_in_a_function_stops_the_question_and_leaves_it_whole(chat: cw.Chat) -> None:
    async def tool() -> None:
        raise KeyboardInterrupt

    script = Script([cw.assistant([cw.ToolCall("tool", {}, "c1")]), cw.assistant("Done.")])
    options: Any = {"model": "gpt-5.6-sol", "tools": [tool], "key": "k", "provider": script}
    with pytest.raises(KeyboardInterrupt):
        chat.ask("Go!", **options)
    assert "stopped" in next(chat.read(3, 4)).message.results[0].text
    assert chat.ask("Go!", **options).text == "Done."


@pytest.mark.parametrize(
    "part",
    [
        cw.Text("a\0b"),
        cw.Text("a\ud83d"),
        cw.Thinking("a\0b"),
        cw.ToolCall("tool", {"a": "\0"}, "c1"),
        cw.ToolCall("tool", {"\ud800": 1}, "c1"),
        cw.ToolCall("to\0ol", {}, "c1"),
        cw.ToolCall("tool", {}, "c\ud800"),
    ],
    ids=repr,
)
def test_what_a_model_writes_is_stored_with_a_line_on_what_no_store_holds(
    chat: cw.Chat, part: cw.Text | cw.ToolCall
) -> None:
    script = Script([cw.assistant([part, cw.Text("!")]), cw.assistant("Done.")])
    answer = chat.ask("Go!", model="gpt-5.6-sol", tools=[cw.Tool("other")], provider=script)
    assert answer.finish == "stop"
    stored = [one.message for one in chat.read()]
    assert "\ufffd" in str(stored[1].parts)
    record = record_of(stored[1])
    assert record is not None
    assert [change.code for change in record.changes] == ["repair.text"]
    assert answer.steps[0] == record
    payload = script.requests[-1]
    assert not [one for one in cw.check(payload, "openai-chat") if one.level == "error"]


def test_a_result_with_characters_that_no_store_holds_says_so(chat: cw.Chat) -> None:
    def tool() -> str:
        return "\0"

    result_of(chat, tool)
    (change,) = next(chat.read(3, 4)).message.meta["ask"]["changes"]
    assert change["code"] == "repair.text"


@pytest.mark.parametrize("text", ['{"a": ', "[1]", '{"a":' * 150 + "1" + "}" * 150])
def test_arguments_that_no_call_can_hold_are_said_to_the_model(chat: cw.Chat, text: str) -> None:
    call = cw.assistant([cw.ToolCall.from_json("tool", text, id="c1")])
    script = Script([call, cw.assistant("Done.")])

    def tool(a: int = 0) -> None:
        raise AssertionError(a)

    assert chat.ask("Go!", model="gpt-5.6-sol", tools=[tool], provider=script).text == "Done."
    (result,) = next(chat.read(3, 4)).message.results
    assert result.text.startswith("not a JSON object: ")
