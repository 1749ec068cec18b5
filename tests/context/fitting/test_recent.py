"""Builds of a growing list reuse earlier counts, and return what a fresh build returns."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import contextwright as cw
from contextwright.context.fitting import priced_history, recent
from contextwright.context.fitting.meter import TokenMeter
from contextwright.context.fitting.priced_history import PricedHistory
from contextwright.messages import Message, Opaque, Reply
from contextwright.text.json import encode_json
from contextwright.tokens.pieces import Piece
from contextwright.tokens.pricer import Prices
from contextwright.windows import Clearing, KeepRecent, Stepped, Window
from profiles import STORE, examples
from strategies import runs
from strategies.windows import histories

MODEL = "gpt-4o"
RECIPE = cw.Recipe(budget=600)


def chat(count: int) -> list[Message]:
    say = (cw.user, cw.assistant)
    return [say[index % 2](f"Message {index} of a chat about nothing") for index in range(count)]


def counted(monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    """The messages that are priced from now on."""
    seen: list[Message] = []
    cost = TokenMeter.cost

    def noted(self: TokenMeter, message: Message) -> float:
        seen.append(message)
        return cost(self, message)

    monkeypatch.setattr(TokenMeter, "cost", noted)
    return seen


def test_only_what_is_new_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    messages, seen = chat(41), counted(monkeypatch)
    RECIPE.build(messages, model=MODEL)
    messages += [cw.assistant("An answer"), cw.user("Another question")]
    seen.clear()
    RECIPE.build(messages, model=MODEL)
    assert seen == [cw.user("Another question"), cw.assistant("An answer")]


def test_texts_are_counted_once_though_their_list_is_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server that keeps nothing gets the same texts in new messages with each request."""
    messages, counted = chat(41), list[str]()
    price = Prices.of

    def noted(self: Prices, piece: Piece) -> tuple[float, float, float]:
        counted.append(piece.value)
        return price(self, piece)

    monkeypatch.setattr(Prices, "of", noted)
    first = RECIPE.build(messages, model=MODEL)
    counted.clear()
    again = RECIPE.build(read_again(messages), model=MODEL)
    assert not counted
    recent.RECENT.forget()
    fresh = RECIPE.build(read_again(messages), model=MODEL)
    assert {"Message 40 of a chat about nothing", "Message 39 of a chat about nothing"} < {*counted}
    assert first.payload == again.payload == fresh.payload
    assert first.ledger == again.ledger == fresh.ledger


def read_again(messages: list[Message]) -> list[Message]:
    return msgspec.json.decode(encode_json(messages), type=list[Message])


@pytest.mark.parametrize("other", ["recipe", "model", "list"])
def test_other_builds_count_for_themselves(other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = chat(41)
    RECIPE.build(messages, model=MODEL)
    seen = counted(monkeypatch)
    recipe = RECIPE
    if other == "recipe":
        recipe = cw.Recipe(budget=600, clearing=cw.windows.Clearing(results=3, step=3))
    if other == "list":
        messages[-1] = cw.user("Message 40 of a chat about nothing")
    recipe.build(messages, model="gpt-4.1" if other == "model" else MODEL)
    assert len(seen) > 20


NUMBERS: dict[str, Callable[[object], Message]] = {
    "arguments": lambda value: cw.assistant(cw.ToolCall("move", {"by": value}, "c1")),
    "object": lambda value: cw.user([cw.Text("So"), cw.ToolResult("c0", {"moved": value})]),
    "extra": lambda value: replace(cw.user("Go"), extra={"openai-chat": {"metadata": value}}),
    "part": lambda value: cw.user(cw.Text("Go", {"openai-chat": {"metadata": value}})),
    "result": lambda value: cw.Message(
        "tool", (cw.ToolResult("c0", "so", extra={"openai-chat": {"metadata": value}}),)
    ),
    "reply": lambda value: replace(
        cw.user("Go"),
        reply_to=Reply(media=(cw.Media("image", url="a.png", extra={"x": {"y": value}}),)),
    ),
    "opaque": lambda value: cw.assistant(Opaque("openai-chat", {"type": "x", "y": value})),
}


@pytest.mark.parametrize("place", NUMBERS)
@pytest.mark.parametrize("order", list(permutations((1, 1.0, True))))
def test_equal_is_not_the_same(place: str, order: tuple[object, ...]) -> None:
    """1, 1.0 and true are equal in Python, and three texts in a request."""
    first, last = cw.user("Hello"), cw.user("And?")
    for value in order:
        messages = [first, NUMBERS[place](value), last]
        built = RECIPE.build(messages, model=MODEL)
        fresh = RECIPE.build(RECIPE.history(messages, model=MODEL), model=MODEL)
        assert encode_json(built.payload) == encode_json(fresh.payload)
        assert encode_json(built.conversation.messages) == encode_json(fresh.conversation.messages)


@pytest.mark.parametrize("place", NUMBERS)
def test_equal_is_not_the_same_where_nobody_looked(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first build reads only the end of the list, the next one reads more of another list."""
    monkeypatch.setattr(priced_history, "NEWEST", 2)
    messages, recipe = chat(41), cw.Recipe()
    for value, budget in ((1, 60), (1.0, 100_000)):
        shown = [*messages[:10], NUMBERS[place](value), *messages[10:]]
        built = recipe.build(shown, model=MODEL, budget=budget)
        fresh = recipe.build(recipe.history(shown, model=MODEL), model=MODEL, budget=budget)
        assert encode_json(built.payload) == encode_json(fresh.payload)


@pytest.mark.parametrize("model", ["claude-sonnet-5-5", "gemini-3.8-flash"])
@pytest.mark.parametrize("order", list(permutations((1, 1.0))))
def test_equal_tools_are_not_the_same(model: str, order: tuple[float, ...]) -> None:
    """They cost more where they are written longer, and the window has less room."""
    recipe, messages = cw.Recipe(), chat(301)
    history = recipe.history(messages, model=model)
    for budget in range(2_500, 3_500, 100):
        for value in order:
            fields = {f"p{place}": {"minimum": value, "default": value} for place in range(60)}
            tools = [cw.Tool("move", "Move.", {"type": "object", "properties": fields})]
            built = recipe.build(history, model=model, tools=tools, budget=budget)
            kept = recipe.history(messages, model=model)
            fresh = recipe.build(kept, model=model, tools=tools, budget=budget)
            assert encode_json(built.payload) == encode_json(fresh.payload)


@given(histories, st.data())
def test_a_grown_list_builds_as_a_fresh_one(messages: list[Message], data: st.DataObject) -> None:
    recipe = cw.Recipe(budget=data.draw(st.integers(200, 5_000)))
    shown: list[Message] = []
    for message in messages:
        shown.append(message)
        if data.draw(st.booleans()):
            continue
        try:
            grown = recipe.build(shown, model=MODEL)
        except cw.errors.BudgetError:
            continue
        fresh = recipe.build(recipe.history(shown, model=MODEL), model=MODEL)
        assert (grown.payload, grown.ledger) == (fresh.payload, fresh.ledger)


def test_threads_do_not_share_a_history() -> None:
    messages = chat(201)

    def build(count: int) -> object:
        return RECIPE.build(messages[: 2 * count + 1], model=MODEL).payload

    expected = [build(count) for count in range(100)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(build, range(100))) == expected


def test_few_are_remembered() -> None:
    histories = recent.RecentHistories()
    for _ in range(recent.MOST + 3):
        histories.keep(RECIPE.history(chat(3), model=MODEL))
    assert len(histories._histories) == recent.MOST


@examples(STORE)
@given(
    runs.histories(8),
    runs.clearings,
    st.lists(st.tuples(runs.windows, runs.limits), min_size=2, max_size=5),
    st.data(),
)
def test_a_kept_history_builds_as_if_it_was_new(
    messages: list[Message],
    clearing: Clearing,
    asked: list[tuple[Window, int]],
    data: st.DataObject,
) -> None:
    kept = cw.Recipe(clearing=clearing).history(messages[:1], model=MODEL)
    for window, budget in asked:
        kept.extend(messages[len(kept) : data.draw(st.integers(len(kept), len(messages)))])
        recipe = cw.Recipe(window=window, clearing=clearing, budget=budget, oversize="cut")
        fresh = recipe.history(messages[: len(kept)], model=MODEL)
        assert outcome(recipe, kept) == outcome(recipe, fresh)


def outcome(recipe: cw.Recipe, history: PricedHistory) -> object:
    """The request with its receipt, or the smallest budget in its place."""
    try:
        context = recipe.build(history, model=MODEL)
    except cw.errors.BudgetError as error:
        return error.minimum
    return context.payload, context.decisions.runs, context.changes, context.ledger


@pytest.mark.parametrize("window", [KeepRecent(), Stepped()])
def test_what_was_too_much_fits_once_old_results_are_cleared(window: Window) -> None:
    """A history that only grows never fits again; one that is cleared does."""
    recipe = cw.Recipe(window=window, clearing=Clearing(results=1, step=0))

    def step(number: int, words: int) -> list[Message]:
        call = cw.ToolCall("look", {}, id=f"c{number}")
        return [
            cw.user(f"Look at {number}."),
            cw.assistant(call),
            cw.tool_result(call.id or "", "seen " * words),
            cw.assistant("Done."),
        ]

    before = [cw.user("Hello " * 1_200), *step(1, 1_200)]
    after = [*step(2, 2), cw.user("And now?")]
    whole = recipe.build([*before, *after], model="gpt-4o")
    recipe = replace(recipe, budget=whole.ledger.most)
    history = recipe.history(before, model="gpt-4o")
    first = recipe.build(history, model="gpt-4o")
    assert first.decisions[0].action == "dropped"
    history.extend(after)
    assert recipe.build(history, model="gpt-4o").payload == whole.payload
