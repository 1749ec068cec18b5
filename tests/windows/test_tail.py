"""A history from its newest message back: added up once, for questions in any order."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.windows import decide
from contextwright.windows.clearing import Clearing
from contextwright.windows.history import History
from contextwright.windows.log import Log
from contextwright.windows.policies import Window
from contextwright.windows.tail import Tail
from strategies.windows import clearings, histories, limits, price, windows


@given(histories, clearings, st.lists(st.tuples(windows, limits), min_size=2, max_size=5))
def test_a_view_answers_as_if_it_was_never_asked(
    messages: list[cw.Message], clearing: Clearing, asked: list[tuple[Window, int]]
) -> None:
    history = History(messages, price=price, clearing=clearing)
    view = history.view()
    for window, limit in asked:
        fresh = decide(window, history.view(), limit)
        assert decide(window, view, limit).runs == fresh.runs


@given(histories, st.lists(st.tuples(limits, st.integers(0, 9)), min_size=1, max_size=5))
def test_every_message_is_added_up_once(
    messages: list[cw.Message], asked: list[tuple[int, int]]
) -> None:
    priced: Counter[int] = Counter()

    def cost(index: int) -> float:
        priced[index] += 1
        return price(messages[index])

    log = Log(messages)
    tail = Tail(log, (), cost)
    for limit, earliest in asked:
        tail.extend(limit, earliest)
    assert max(priced.values(), default=1) == 1
    at_once = Tail(log, (), lambda index: price(messages[index]))
    at_once.extend(max(limit for limit, _ in asked), min(earliest for _, earliest in asked))
    assert at_once.starts[: len(tail.starts)] == tail.starts
    assert at_once.totals[: len(tail.totals)] == tail.totals
