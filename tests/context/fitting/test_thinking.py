"""Thinking is dropped if the text before it has changed, unless an API requires it."""

import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.context.fitting.thinking import open_turn
from contextwright.context.recipe import Recipe
from contextwright.sections import CurrentTime
from contextwright.windows.clearing import Clearing
from contextwright.windows.policies import FirstAndRecent, KeepAll, KeepRecent, Stepped, Window
from strategies.traffic import PICTURE

NOW = datetime.datetime(2026, 11, 15, 12, 0, tzinfo=datetime.UTC)
LEGACY, BOUND = "claude-sonnet-4-5", "claude-sonnet-5-5"
THOUGHT = cw.Thinking("hm", signature="c2lnbmVk", origin="anthropic")
THINKING = ("thinking", "redacted_thinking")


def step(number: int, calls: int = 1) -> list[cw.Message]:
    """One step of a tool loop: thought, calls, results."""
    ids = [f"c{number}_{call}" for call in range(calls)]
    asked = [cw.ToolCall("look", {"at": number}, id) for id in ids]
    results = [cw.tool_result(id, f"result {number} " * 6) for id in ids]
    return [cw.assistant([THOUGHT, *asked]), *results]


def turn(number: int, steps: int) -> list[cw.Message]:
    loop = [message for index in range(steps) for message in step(number * 10 + index)]
    return [cw.user(f"question {number}"), *loop, cw.assistant([THOUGHT, cw.Text("answer")])]


windows: st.SearchStrategy[Window] = st.one_of(
    st.builds(KeepRecent, st.none() | st.integers(1, 6)),
    st.builds(Stepped, st.sampled_from((0.2, 0.5)), st.none() | st.integers(1, 6)),
)


@given(
    st.lists(st.integers(0, 3), max_size=4),
    st.lists(st.integers(1, 3), min_size=1, max_size=3),
    st.booleans(),
    windows,
    st.sampled_from((Clearing(), Clearing(results=1, step=1))),
    st.integers(60, 900),
    st.sampled_from((("Be kind.",), ("Be kind.", CurrentTime()))),
)
def test_an_open_tool_loop_begins_with_its_thinking_where_the_api_demands_it(
    turns: list[int],
    loop: list[int],
    steered: bool,
    window: Window,
    clearing: Clearing,
    budget: int,
    system: tuple[Any, ...],
) -> None:
    messages = [message for number, steps in enumerate(turns) for message in turn(number, steps)]
    messages.append(cw.user("newest"))
    for number, calls in enumerate(loop):
        messages.extend(step(100 + number, calls))
    if steered:
        messages.append(cw.user("and hurry"))
    recipe = Recipe(system=system, window=window, clearing=clearing, answer=2_000)
    try:
        context = recipe.build(messages, model=LEGACY, now=NOW, budget=budget)
    except cw.BudgetError as error:
        context = recipe.build(messages, model=LEGACY, now=NOW, budget=error.minimum)
    payload = {**context.payload, "thinking": {"type": "enabled", "budget_tokens": 1_024}}
    problems = cw.check(payload, "anthropic", model=LEGACY)
    assert [problem.code for problem in problems if problem.level == "error"] == []
    lost = {change.path for change in context.changes if change.code == "loss.thinking"}
    sent = thinking_in(context.payload)
    kept = sum(thinks(messages[place]) for place in context.decisions.kept())
    assert sent + len(lost) == kept, "every thought is sent, or said to be lost"


def thinks(message: cw.Message) -> bool:
    return any(isinstance(part, cw.Thinking) for part in message.parts)


def thinking_in(payload: dict[str, Any]) -> int:
    blocks = [block for turn in payload["messages"] for block in turn["content"]]
    return sum(block["type"] in THINKING for block in blocks)


def test_thinking_before_the_first_change_stays() -> None:
    chat = [*turn(0, 1), *turn(1, 2), *turn(2, 0), cw.user("newest")]
    context = Recipe(clearing=Clearing(results=2, step=0)).build(chat, model=BOUND)
    cleared = [each.index for each in context.decisions if each.action == "cleared"]
    assert cleared == [2]
    lost = [change.path for change in context.changes if change.code == "loss.thinking"]
    assert lost == ["messages[3]", "messages[5]", "messages[7]", "messages[9]", "messages[11]"]
    assert thinking_in(context.payload) == 1


@pytest.mark.parametrize(("model", "sent"), [(BOUND, 0), ("claude-opus-4-8", 1), (LEGACY, 1)])
def test_a_clock_changes_what_stood_before_thinking(model: str, sent: int) -> None:
    """Only some models check that; there, thinking signed under another clock is refused."""
    chat = [*turn(0, 0), cw.user("newest")]
    for system, expected in ((("Be kind.",), 1), (("Be kind.", CurrentTime()), sent)):
        context = Recipe(system=system).build(chat, model=model, now=NOW)
        assert thinking_in(context.payload) == expected


@pytest.mark.parametrize(
    ("messages", "start"),
    [
        ([], 0),
        ([cw.user("hi")], 1),
        ([cw.user("hi"), cw.assistant("yes")], 2),
        ([cw.user("hi"), *step(1)], 1),
        ([cw.user("hi"), cw.assistant([THOUGHT]), *step(1, 2)], 1),
        ([cw.user("hi"), *step(1), *step(2), cw.user("hurry")], 3),
        ([cw.user("hi"), *step(1), cw.assistant("done"), cw.user("more")], 5),
    ],
)
def test_where_an_open_turn_begins(messages: list[cw.Message], start: int) -> None:
    assert open_turn(messages) == start


@pytest.mark.parametrize("window", [KeepRecent(), Stepped(step=0.1), FirstAndRecent(200)])
@pytest.mark.parametrize("rounds", [1, 3, 5])
def test_thinking_that_costs_nothing_takes_no_room(window: Window, rounds: int) -> None:
    """A budget of what the whole takes holds all of it, also where old thinking is not charged."""
    thinking = cw.Thinking(
        "列車は七時四十分に出ますが、切符はまだ誰も買っていません。" * 3, "c2ln", "anthropic"
    )
    messages = [cw.system("¶1 По"), cw.user([cw.Text("¶2 de"), PICTURE]), cw.assistant("Seen.")]
    messages += [cw.user("¶5 По"), cw.assistant([thinking, cw.Text("¶4 Th")])]
    for index in range(rounds):
        messages += [cw.user(f"¶{7 + 2 * index} П"), cw.assistant(f"¶{6 + 2 * index} T")]
    whole = Recipe(window=KeepAll()).build(messages, model=LEGACY, budget=100_000)
    context = Recipe(window=window).build(messages, model=LEGACY, budget=whole.ledger.most)
    assert context.payload == whole.payload
