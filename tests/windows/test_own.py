"""Custom windows, and invalid steps."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.windows import Stepped, View, Window
from contextwright.windows.decisions import Span
from samples.windows import decided


class LastTwo(Window):
    def spans(self, view: View, limit: float) -> list[range]:
        return [range(view.newest(2), view.count)]


class Wrong(Window):
    def __init__(self, found: Any) -> None:
        self.found = found

    def spans(self, view: View, limit: float) -> Any:
        return self.found


def test_a_window_of_ones_own_gives_ranges() -> None:
    talk = [cw.user("one"), cw.assistant("two"), cw.user("three"), cw.assistant("four")]
    context = cw.build(talk, cw.Recipe(window=LastTwo()), model="gpt-4o")
    assert [(one.action, one.reason) for one in context.decisions] == [
        ("dropped", "outside the window"),
        ("dropped", "outside the window"),
        ("kept", "in the window"),
        ("kept", "in the window"),
    ]
    context = cw.build(talk, cw.Recipe(window=Wrong([])), model="gpt-4o")
    assert [one.action for one in context.decisions] == ["dropped", "dropped", "kept", "kept"]


places = st.integers(0, 6)
spans = st.builds(
    lambda one, other, reason: Span(min(one, other), max(one, other), reason),
    places,
    places,
    st.sampled_from(("first", "second", "third")),
)


@given(st.lists(spans, max_size=4))
def test_spans_may_overlap_in_any_order(spans: list[Span]) -> None:
    """The last one that has a message gives the reason; the newest question stays anyway."""
    reasons = {5: "newest question"}
    for span in spans:
        reasons.update(dict.fromkeys(range(span.start, span.stop), span.reason))
    decisions = decided([cw.user(str(number)) for number in range(6)], Wrong(spans))
    assert [one.reason for one in decisions] == [
        reasons.get(index, "outside the window") for index in range(6)
    ]
    assert list(decisions.kept()) == sorted(reasons)


@pytest.mark.parametrize(
    "found", [[5], [range(0, 9)], [range(-1, 2)], [range(0, 4, 2)], ["all"], 5, None]
)
def test_what_a_window_cannot_keep_is_refused(found: Any) -> None:
    with pytest.raises(cw.UsageError, match="a window cannot keep"):
        cw.build([cw.user("one")], cw.Recipe(window=Wrong(found)), model="gpt-4o")


@pytest.mark.parametrize("step", [5, -0.1, 1.01, "0.5", float("nan"), True])
def test_a_step_is_a_share(step: Any) -> None:
    with pytest.raises(cw.UsageError, match="step cannot be"):
        Stepped(step=step)


@pytest.mark.parametrize("step", [-1, float("inf"), float("nan"), "3"])
def test_a_step_of_clearing_is_a_finite_number(step: Any) -> None:
    with pytest.raises(cw.UsageError, match="step cannot be"):
        cw.Clearing(results=3, step=step)
