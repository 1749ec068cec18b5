"""The ruler: its lines, of which stepped windows choose one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.messages.parts import Part
from contextwright.windows.ruler import MEDIA, coarsest_line, part_length

PARTS: list[tuple[Part, int]] = [
    (cw.Text("soup"), 4),
    (cw.Text("сир"), 6),
    (cw.Thinking("hm"), 2),
    (cw.ToolCall("find", {"q": "ї"}, id="c1"), 4 + len('{"q":"ї"}'.encode())),
    (cw.ToolCall("find", {}, id="c1", raw="{ }"), 4 + 3),
    (cw.ToolResult("c1", "сир"), 6),
    (cw.ToolResult("c1", {"a": [1]}), len('{"a":[1]}')),
    (cw.ToolResult("c1", (cw.Text("ab"), cw.Media("image", url="https://a.example/b"))), 2 + MEDIA),
    (cw.Opaque("anthropic", {"type": "x"}), len('{"type":"x"}')),
    (cw.Media("audio", data="AAAA", mime="audio/wav"), MEDIA),
]


@pytest.mark.parametrize(("part", "length"), PARTS)
def test_a_part_is_as_long_as_its_bytes(part: Part, length: int) -> None:
    assert part_length(part) == length


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
