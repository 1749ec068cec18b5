"""Where a window may begin: its sums are those of the messages it sends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.windows import decide
from contextwright.windows.clearing import Clearing
from contextwright.windows.history import History
from contextwright.windows.policies import Stepped
from contextwright.windows.room import Room
from strategies.windows import clearings, histories, limits, price, words

answers = st.lists(words.map(cw.assistant), max_size=5)


@given(
    st.tuples(histories, words.map(cw.user), answers).map(
        lambda some: [*some[0], some[1], *some[2]]
    ),
    clearings,
    limits,
    st.sets(st.integers(0, 9)),
    st.integers(0, 4),
    st.sampled_from((0.1, 0.4, 0.9)),
)
def test_sums_are_those_of_the_messages(
    messages: list[cw.Message],
    clearing: Clearing,
    limit: int,
    also: set[int],
    earliest: int,
    step: float,
) -> None:
    view = History(messages, price=price, clearing=clearing).view()
    spoken = [index for index in range(len(messages)) if view.is_countable(index)]
    room = Room(view, limit, also=also.intersection(spoken), earliest=earliest)
    first = view.log.exchanges.first

    def sent(start: int, stay: set[int]) -> float:
        """The tokens from a start on, and of what stays before it."""
        kept = stay.union(index for index in spoken if first(index) >= start)
        return sum(map(view.cost, kept))

    required = view.required | room.always
    starts = sorted({first(index) for index in spoken}, reverse=True)
    fitting = [one for one in starts if one >= earliest and sent(one, required) <= limit]
    assert room.starts == starts[: len(fitting)] == fitting
    assert [room.total(place) for place in range(len(fitting))] == [
        sent(start, required) for start in fitting
    ]
    assert room.stopped == (starts[len(fitting)] if len(fitting) < len(starts) else None)
    assert room.start == (0 if room.stopped is None else [view.last or 0, *fitting][-1])
    if fitting:
        behind = [{index for index in required if index >= start} for start in fitting]
        lasting = [sent(*one) for one in zip(fitting, map(room.always.union, behind), strict=True)]
        enough = (1 - step) * lasting[-1]
        assert room._enough(step) == sum(one <= enough for one in lasting[:-1])


def call(id: str, letters: int = 0) -> cw.Message:
    return cw.assistant(["w" * letters, cw.ToolCall("go", {}, id)])


def answer(id: str, letters: int, *, asks: bool = False) -> cw.Message:
    result = cw.ToolResult(id, "r" * letters)
    return cw.user([result, "so?"]) if asks else cw.tool_result(id, "r" * letters)


CUTS = {
    "the question with results needs its call": (
        [
            cw.user("go"),
            call("a", 300),
            answer("a", 5, asks=True),
            call("b", 50),
            answer("b", 30),
            call("c"),
            answer("c", 300),
            cw.user("next"),
        ],
        Stepped(0.5),
        700,
    ),
    "the next question comes with results": (
        [
            cw.user("go"),
            call("a"),
            answer("a", 470, asks=True),
            call("b"),
            answer("b", 20),
            call("c", 200),
            answer("c", 200),
            call("d"),
            answer("d", 100),
            call("e"),
            answer("e", 10, asks=True),
        ],
        Stepped(0.1),
        1000,
    ),
    "words come between calls and their results": (
        [
            cw.system("s"),
            *map(cw.user, "uvw"),
            cw.assistant([cw.ToolCall("go", {}, id) for id in "abc"]),
            cw.user("wait".ljust(20)),
            *[cw.tool_result(id, "found") for id in "abc"],
        ],
        Stepped(0.5, messages=5),
        300,
    ),
}


@pytest.mark.parametrize(("messages", "window", "limit"), CUTS.values(), ids=CUTS)
def test_a_stepped_cut_does_not_move_back(
    messages: list[cw.Message], window: Stepped, limit: int
) -> None:
    """Where the history until then did not fit from an earlier start on."""
    history = History(price=price)
    cuts: list[int] = []
    for message in messages:
        history.append(message)
        cuts.append(decide(window, history.view(), limit).cut)
    assert cuts == sorted(cuts)
