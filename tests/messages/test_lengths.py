"""The length of messages in bytes."""

from __future__ import annotations

import pytest

import contextwright as cw
from contextwright.messages.lengths import MEDIA, part_length
from contextwright.messages.parts import Part

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
