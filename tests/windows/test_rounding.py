"""Round numbers, of which stepped windows choose one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contextwright.windows.rounding import roundest


@given(st.integers(0, 10_000), st.integers(1, 300))
def test_the_roundest_number_of_a_range_is_divisible_by_the_highest_power(
    after: int, count: int
) -> None:
    """The lowest bit of a number is the highest power of two that divides it."""
    numbers = range(after + 1, after + count + 1)
    found = roundest(after, after + count)
    assert [n for n in numbers if n & -n >= found & -found] == [found]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=60))
def test_a_range_that_moves_on_never_goes_back(moves: list[tuple[int, int]]) -> None:
    after, upto, before = 0, 20, 0
    for first, last in moves:
        after, upto = min(after + first, upto + last - 1), upto + last
        found = roundest(after, upto)
        assert max(before, after + 1) <= found <= upto
        before = found
