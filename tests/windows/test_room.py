"""Where a window may begin: its sums are those of the messages it sends."""

from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.windows.clearing import Clearing
from contextwright.windows.history import History
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
    view = History(messages, price=price, clearing=clearing).view(width=100)
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
        lasting = [sent(start, room.always) for start in fitting]
        enough = (1 - step) * lasting[-1]
        assert room._enough(step) == sum(one <= enough for one in lasting[:-1])
