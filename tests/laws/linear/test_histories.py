"""Histories of odd shapes are rendered and built in linear time: steps are counted, not time."""

from collections.abc import Callable
from functools import partial

import pytest

import contextwright as cw
from contextwright.messages.message import Message
from contextwright.messages.parts import Text, ToolCall, ToolResult
from steps import count_calls

MODELS = {
    "openai-chat": "gpt-4o",
    "openai-responses": "gpt-4o",
    "anthropic": "claude-sonnet-5-5",
    "gemini": "gemini-2.5-flash",
}
SMALL, LARGE = 120, 480
STEEPEST = 5.2
"""Linear time gives 4, quadratic time 16."""


def one_side(count: int) -> list[Message]:
    return [cw.user(f"Word {index}") for index in range(count)]


def parts_of_one(count: int) -> list[Message]:
    return [Message("user", tuple(Text(f"Word {index}") for index in range(count)))]


def systems(count: int) -> list[Message]:
    return [
        message
        for index in range(count // 2)
        for message in (cw.system("Be brief."), cw.user(f"Word {index}"))
    ]


def people(count: int) -> list[Message]:
    """As many people as messages, all of one name."""
    return [
        cw.user(f"Word {index}", author=cw.Author(id=f"p{index}", name="Ann"))
        for index in range(count)
    ]


def calls_of_one(count: int) -> list[Message]:
    calls = [ToolCall("look", {}, f"c{index}") for index in range(count // 2)]
    results = [cw.tool_result(f"c{index}", "so") for index in reversed(range(count // 2))]
    return [cw.user("Look!"), Message("assistant", tuple(calls)), *results]


def late_results(count: int) -> list[Message]:
    asked = [cw.assistant(ToolCall("look", {}, f"c{index}")) for index in range(count // 2)]
    results = [cw.tool_result(f"c{index}", "so") for index in range(count // 2)]
    return [cw.user("Look!"), *asked, *results]


def results_between_words(count: int) -> list[Message]:
    calls = [ToolCall("look", {}, f"c{index}") for index in range(count // 2)]
    told = [
        message
        for index in range(count // 2)
        for message in (cw.tool_result(f"c{index}", "so"), cw.user(f"Word {index}"))
    ]
    return [cw.user("Look!"), Message("assistant", tuple(calls)), *told]


def one_id(count: int) -> list[Message]:
    return [
        message
        for _ in range(count // 3)
        for message in (
            cw.user("Look!"),
            cw.assistant(ToolCall("look", {}, "a")),
            cw.tool_result("a", "so"),
        )
    ]


def open_calls(count: int) -> list[Message]:
    return [cw.assistant(ToolCall("look", {}, f"c{index}")) for index in range(count)]


def orphans(count: int) -> list[Message]:
    return [Message("tool", (ToolResult(f"c{index}", "so"),)) for index in range(count)]


def blanks(count: int) -> list[Message]:
    return [cw.user(" ") for _ in range(count)]


def odd_names(count: int) -> list[Message]:
    return [
        message
        for index in range(count // 2)
        for message in (
            cw.assistant(ToolCall(f"look at {index}", {}, f"c {index}")),
            cw.tool_result(f"c {index}", "so"),
        )
    ]


SHAPES: tuple[Callable[[int], list[Message]], ...] = (
    one_side, parts_of_one, systems, people, calls_of_one, late_results, results_between_words,
    one_id, open_calls, orphans, blanks, odd_names,
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("format", MODELS)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_histories_take_linear_steps(shape: Callable[[int], list[Message]], format: str) -> None:
    """Rendered whole, read again and checked; cut to about half of their size."""

    def rendered(size: int) -> None:
        payload = cw.render([cw.user("So?"), *shape(size), cw.user("And?")], format).payload
        cw.parse(payload, format)
        cw.check(payload, format)

    def built(size: int) -> None:
        messages = [*shape(size), cw.user("And?")]
        cw.Recipe(budget=8 * size).build(messages, model=MODELS[format], format=format)

    for work in (rendered, built):
        work(60)  # what is made on first use
        few, many = (count_calls(partial(work, size)) for size in (SMALL, LARGE))
        assert many < STEEPEST * few, f"{work.__name__}: {few:,} steps, then {many:,}"
