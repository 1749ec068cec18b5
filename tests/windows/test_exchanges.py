"""Exchanges are matched from the newest message back, and are the same as if all were matched."""

from collections.abc import Callable, Iterator

from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.messages.exchanges import match_results
from contextwright.windows.exchanges import Exchanges, Holder
from profiles import LAW, examples

names = st.sampled_from(["look", "read"])
ids = st.sampled_from(["a", "b", "c", "d"])
STEPS = ["call"] * 5 + ["answer", "late answer", "nameless"] * 2 + ["orphan", "text"]


@st.composite
def histories(draw: st.DrawFn) -> list[cw.Message]:
    """Calls that are answered at once, much later or never; results that answer no call."""
    history: list[cw.Message] = []
    waiting: list[str] = []
    for step in draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=25)):
        if step == "call":
            made = draw(st.lists(ids, min_size=1, max_size=2))
            history.append(cw.assistant([cw.ToolCall(draw(names), id=id) for id in made]))
            waiting += made
        elif step == "nameless":
            result = cw.ToolResult(None, name=draw(names | st.none()))
            history.append(cw.Message("tool", (result,)))
        elif step == "text":
            history.append(cw.user("And then?"))
        else:
            id = draw(ids)
            if waiting and step != "orphan":
                id = waiting.pop(0 if step == "late answer" else -1)
            history.append(cw.Message("tool", (cw.ToolResult(id),)))
    return history


def holders(history: list[cw.Message], start: int = 0) -> Iterator[Holder]:
    """The messages of a history with calls or results, from an index on."""
    for index, message in enumerate(history[start:], start):
        if message.calls or message.results:
            yield index, message, 0


def matched(history: list[cw.Message]) -> Exchanges:
    """The exchanges of a history, matched from its first message on."""
    found = Exchanges()
    found.extend([*holders(history)])
    found.match_from(0)
    return found


ASKED: list[Callable[[Exchanges, int], object]] = [
    Exchanges.members,
    Exchanges.first,
    Exchanges.__contains__,
    Exchanges.tool_names,
    Exchanges.late,
    lambda exchanges, index: exchanges.among({index, index // 2, index + 1}),
]


@examples(LAW)
@given(histories(), st.lists(st.integers(0, 40), max_size=2), st.data())
def test_matching_from_the_end_gives_the_same(
    history: list[cw.Message], stops: list[int], data: st.DataObject
) -> None:
    """Whatever is asked for, in whichever order, while the history grows."""
    places = st.integers(0, len(history) - 1)
    indexes = data.draw(st.lists(places, min_size=1, max_size=3, unique=True))
    for ask in ASKED:
        lazy, reached = Exchanges(fewest=1), 0
        for stop in [*sorted(stop for stop in stops if stop < len(history)), len(history)]:
            lazy.extend([*holders(history[:stop], reached)])
            reached = stop
            whole = matched(history[:stop])
            for index in indexes:
                assert ask(lazy, index) == ask(whole, index)
        assert lazy.results == matched(history).results


@given(histories())
def test_an_exchange_has_every_call_with_its_result(history: list[cw.Message]) -> None:
    found = matched(history)
    for answer in match_results(history).answers:
        if answer.result_at is not None and answer.result_at[0] != answer.at[0]:
            assert answer.result_at[0] in found.members(answer.at[0])
            assert answer.at[0] in found.members(answer.result_at[0])


@given(histories())
def test_a_late_result_does_not_follow_its_exchange(history: list[cw.Message]) -> None:
    found = matched(history)
    answers = [index for index, one in enumerate(history) if found.first(index) < index]
    results = [index for index in answers if history[index].results]
    assert found.late(0) == [index for index in results if index - 1 not in found.members(index)]


def test_parallel_results_are_one_beginning() -> None:
    both = cw.assistant([cw.ToolCall("look", {}, "a"), cw.ToolCall("read", {}, "b")])
    turn = [both, cw.tool_result("a", "sunny"), cw.tool_result("b", "warm")]
    orphans = [cw.tool_result("x", ""), cw.tool_result("y", "")]
    assert matched([*turn, *orphans, *turn]).results == [1, 3, 4, 6]


def test_a_long_history_is_matched_only_at_its_end() -> None:
    turn = [cw.assistant(cw.ToolCall("look", {}, "a")), cw.tool_result("a", "sunny"), cw.user("ok")]
    history = turn * 1_000
    found = Exchanges()
    found.extend([*holders(history)])
    assert found.members(len(history) - 2) == [len(history) - 3, len(history) - 2]
    assert len(found.by_index) < 100
    assert found.members(1) == [0, 1]
