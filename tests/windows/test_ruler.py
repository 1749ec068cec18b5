"""The ruler: its lines, of which stepped windows choose one."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from contextwright.windows.ruler import coarsest_line


@given(st.lists(st.integers(1, 500), min_size=2, max_size=30), st.integers(1, 300))
def test_the_coarsest_line_of_a_range_is_crossed_once(lengths: list[int], grid: int) -> None:
    ends = [sum(lengths[:count]) for count in range(len(lengths) + 1)]
    line = coarsest_line(ends[0], ends[-1], grid)
    crossing = [pair for pair in pairwise(ends) if line is not None and pair[0] < line <= pair[1]]
    assert len(crossing) == (line is not None)
    for pair in crossing:
        assert coarsest_line(*pair, grid) == line
    for pair in pairwise(ends):
        inner = coarsest_line(*pair, grid)
        assert inner is None or pair[0] < inner <= pair[1]
