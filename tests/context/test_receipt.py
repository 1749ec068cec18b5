"""Comparison of two requests: what they share, why they differ, and what that costs."""

from __future__ import annotations

import datetime

import msgspec
import pytest

import contextwright as cw
from contextwright.context.receipt import Comparison
from contextwright.context.recipe import Recipe
from contextwright.formats import NAMES
from contextwright.models import find
from contextwright.sections import CurrentTime, Instructions, Section, SectionInput, Volatility
from contextwright.windows.clearing import Clearing
from contextwright.windows.policies import KeepRecent

replace = msgspec.structs.replace
NOW = datetime.datetime(2026, 11, 15, 12, 0, tzinfo=datetime.UTC)

CHAT = [
    cw.system("Be brief."),
    cw.user("What is two plus two?"),
    cw.assistant("Four."),
    cw.user("And three plus three?"),
    cw.assistant("Six."),
    cw.user("And four plus four?"),
]


class Memories(Section, msgspec.Struct, frozen=True):
    """A section of one's own."""

    text: str
    volatility: Volatility = "rare"

    def write(self, moment: SectionInput) -> str | None:
        return self.text


def compared(
    before: Recipe,
    after: Recipe | None = None,
    messages: tuple[list[cw.Message], list[cw.Message]] = (CHAT[:2], CHAT[:4]),
    *,
    later: int = 0,
    tools: tuple[tuple[cw.Tool, ...], tuple[cw.Tool, ...]] = ((), ()),
    model: str = "claude-sonnet-5-5",
) -> Comparison:
    first = before.build(messages[0], model=model, now=NOW, tools=tools[0])
    moment = NOW + datetime.timedelta(minutes=later)
    second = (after or before).build(messages[1], model=model, now=moment, tools=tools[1])
    return second.compared_with(first)


def test_only_added() -> None:
    found = compared(Recipe())
    assert (found.cause, found.first_difference, found.byte, found.cost) == (
        "nothing changed, only added",
        None,
        None,
        0.0,
    )
    assert 0 < found.shared < found.tokens
    assert found.share == found.shared / found.tokens


@pytest.mark.parametrize("model", ["claude-sonnet-5-5", "gemini-3.8-flash"])
def test_a_clock_in_the_system_text(model: str) -> None:
    clock = Recipe(system=("Be kind.", CurrentTime()), placement="system")
    found = compared(clock, messages=(CHAT[1:2], CHAT[1:4]), later=1, model=model)
    assert found.cause == "the system text changed: CurrentTime[1]"
    assert (found.first_difference, found.byte, found.shared) == ("system", 0, 0)
    assert found.cost is not None
    assert found.cost > 0


def test_a_clock_beside_the_question() -> None:
    clock = Recipe(system=("Be kind.", CurrentTime()))
    found = compared(clock, messages=(CHAT[1:2], CHAT[1:2]), later=1)
    assert found.cause == "volatile sections changed: CurrentTime[1]"
    assert found.first_difference == "messages[0]"
    assert found.shared > 0


def test_the_same_messages_written_otherwise() -> None:
    said = [cw.user("Two plus two?", author=cw.Author("1", "Ann"))]
    plain, named = (Recipe(options={"speaker_prefix": wanted}) for wanted in (False, True))
    found = compared(plain, named, messages=(said, said))
    assert found.cause == "the same messages are sent in another way"
    assert found.first_difference == "messages[0]"


@pytest.mark.parametrize("model", ["claude-sonnet-5-5", "gemini-3.8-flash"])
def test_a_turn_that_went_on(model: str) -> None:
    """What the same side says next is merged into the last turn."""
    asked = [*CHAT[:4], cw.user("Quickly!")]
    found = compared(Recipe(), messages=(CHAT[:4], asked), model=model)
    assert found.cause == "the last turn went on"
    assert found.first_difference in ("messages[2]", "contents[2]")
    edited = [*CHAT[:3], cw.user("And three plus three? Quickly!")]
    assert compared(Recipe(), messages=(CHAT[:4], edited), model=model).cause == "message 4 changed"


@pytest.mark.parametrize("format", sorted(NAMES))
def test_two_requests_of_any_format(format: str) -> None:
    recipe = Recipe(system=("Be kind.",), window=KeepRecent(messages=1), note=None)
    first, second = (recipe.build(CHAT[1:stop], model="gpt-4o", format=format) for stop in (4, 6))
    assert second.compared_with(first).cause == "the window moved"


def test_the_head_of_a_receipt_says_what_counting_the_request_does() -> None:
    photo = cw.Media("image", "image/jpeg", url="https://example.com/photo.jpg")
    for model in ("claude-sonnet-5-5", "gemini-3.8-flash", "gpt-4o", "gpt-5.6-sol"):
        context = Recipe().build([cw.user(["What is it?", photo])], model=model)
        assert str(cw.count(context.payload, model=model)) in context.explain().splitlines()[0]


def test_a_memory_changed() -> None:
    before, after = (
        Recipe(system=("Be kind.", Memories(text), Instructions("Answer.")))
        for text in ("Likes tea.", "Likes coffee.")
    )
    assert compared(before, after).cause == "the system text changed: Memories[1]"


def test_the_tool_list_changed() -> None:
    add, sub = (cw.Tool(name, "Counts.", {"type": "object"}) for name in ("add", "sub"))
    found = compared(Recipe(), tools=((add,), (add, sub)))
    assert (found.cause, found.first_difference) == ("the tool list changed", "tools")


def test_the_price_is_that_of_all_that_is_not_shared() -> None:
    clock = Recipe(system=("Be kind.", CurrentTime()), placement="system")
    found = compared(clock, messages=(CHAT[1:2], CHAT[1:6]), later=1)
    written = find("claude-sonnet-5-5").prices.cache_write
    assert written is not None
    assert found.fresh == found.tokens - found.shared > 0
    assert found.cost == pytest.approx(found.fresh * written / 1_000_000)


def test_clearing_is_said_as_clearing() -> None:
    called = [cw.user("Count."), cw.assistant(cw.ToolCall("add", {"a": 1}, id="c1"))]
    turns = [*called, cw.tool_result("c1", "2 " * 400)]
    more = [
        one
        for number in range(2, 9)
        for one in (
            cw.assistant(cw.ToolCall("add", {"a": number}, id=f"c{number}")),
            cw.tool_result(f"c{number}", "3 " * 400),
        )
    ]
    clearing = Recipe(clearing=Clearing(results=1, step=1.0))
    found = compared(clearing, messages=(turns, [*turns, *more]))
    assert found.cause == "older results or media were cleared"


def test_the_window_moved() -> None:
    found = compared(Recipe(window=KeepRecent(1)), messages=(CHAT[:2], CHAT[:4]))
    assert (found.cause, found.first_difference) == ("the window moved", "messages[0]")
    assert found.byte == len('[{"type":"text","text":"Be brief."}]')


def test_an_earlier_message_changed() -> None:
    edited = [CHAT[0], cw.user("What is two plus three?"), *CHAT[2:4]]
    assert compared(Recipe(), messages=(CHAT[:2], edited)).cause == "message 2 changed"


def test_figures_are_of_the_request_that_was_built() -> None:
    """They are computed when they are asked for, whatever has happened to the payload by then."""
    recipe = cw.Recipe(system=("Be kind.",), budget=2_000)
    for model in ("gpt-5.6-sol", "claude-sonnet-5-5", "gemini-3.8-flash"):
        messages = [cw.user("Hi"), cw.assistant("Hello"), cw.user("How are you?")]
        expected = cw.build(messages, recipe, model=model)
        figures = expected.ledger, expected.prefix, list(expected.decisions)
        history = recipe.history(messages, model=model)
        context = recipe.build(history, model=model)
        for value in context.payload.values():
            if isinstance(value, list):
                value.clear()  # pyright: ignore[reportUnknownMemberType]
        context.payload.clear()
        history.append(cw.assistant("Fine."))
        recipe.build(history, model=model)
        assert (context.ledger, context.prefix, list(context.decisions)) == figures


@pytest.mark.parametrize(
    ("messages", "numbers"),
    [
        ([], [None, None]),
        ([cw.system("Be brief.")], [None, None]),
        ([cw.assistant("Hi")], [None, 1, 1, 1]),
        ([cw.user("a"), cw.assistant("b"), cw.user("c")], [None, 1, 2, 3]),
    ],
)
def test_turns_have_the_numbers_of_their_messages(
    messages: list[cw.Message], numbers: list[int | None]
) -> None:
    """The system text has none, nor has a turn that was invented because there was no message."""
    context = cw.Recipe(system=("Be kind.",)).build(messages, model="claude-sonnet-5-5")
    assert [unit.seq for unit in context.prefix] == numbers
