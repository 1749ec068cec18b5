"""Values of every kind, most of them wrong wherever they are passed, and what is said to them."""

import asyncio
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import contextwright as cw
from contextwright.errors import shown
from golden_files import compare_digests

NOW = datetime(2025, 1, 15, 12, 30, tzinfo=UTC)
HELLO = [cw.user("Hello")]


class Odd:
    """Something that nothing takes."""


MESSAGE: Any = cw.Message
CONVERSATION: Any = cw.Conversation
TEXT: Any = cw.Text
CALL: Any = cw.ToolCall
MEDIA: Any = cw.Media
TOOL: Any = cw.Tool


def nested(levels: int) -> list[Any]:
    """A list in a list in a list, as deep as that."""
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


DEEP = nested(200_000)
"""Too deep for functions in C too, which go ten thousand levels from Python 3.12 on."""


def wrong_values() -> list[Any]:
    """Values of every kind, each new, because iterators are used up."""
    return [
        None, True, 0, -1, 3, 10**30, 10**400, 1.5, float("nan"), "", "x", "a\0b", "\ud800",
        b"x", (), [], [3], [None], ["x"], [[]], [{}], {}, {"a": 1}, {"role": 3}, {"messages": 3},
        [{"role": "user"}], [{"role": []}], {1, 2}, object(), Odd(), Odd, iter([3]), len, NOW,
        cw.user("x"), MESSAGE("user", "x"), MESSAGE(3, (3,)), MESSAGE("user", (TEXT(3),)),
        CONVERSATION(3), CONVERSATION((), tools=(3,)), TOOL(3),
        MESSAGE("assistant", (CALL(3, 3, 3),)), MESSAGE("user", (MEDIA(3, 3, 3),)), DEEP,
    ]  # fmt: skip


def used_up(found: Any) -> None:
    """Take all that a call returns."""
    if inspect.iscoroutine(found):
        asyncio.run(found)
    elif isinstance(found, Iterator):
        list(found)


def refusal(call: Callable[..., Any], given: dict[str, Any]) -> str:
    """Call it, and return the words of an error of ours; nothing if it takes what is given."""
    try:
        used_up(call(**given))
    except cw.ContextwrightError as error:
        return re.sub(r"0x[0-9a-f]+", "ADDRESS", str(error))
    return ""


def refusals(call: Callable[..., Any], usual: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """What it says to every wrong value in the place of every argument."""
    for name in usual:
        said: list[str] = []
        for place, value in enumerate(wrong_values()):
            try:
                said.append(refusal(call, {**usual, name: value}))
            except Exception as error:
                given = shown(wrong_values()[place])
                raise AssertionError(f"{name} = {given}: {error!r}") from error
        yield name, said


def compare_refusals(name: str, calls: Iterable[tuple[str, Any, dict[str, Any]]]) -> None:
    """Every call refuses as its digests say, and with no error but ours."""
    outcomes = (
        ((title, argument), said)
        for title, call, usual in calls
        for argument, said in refusals(call, usual)
    )
    compare_digests(f"refused-{name}", outcomes)
