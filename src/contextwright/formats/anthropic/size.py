"""The size of a Messages request, made legal."""

from __future__ import annotations

from typing import Any

from contextwright.messages.changes import Change
from contextwright.wire.anthropic.media import encoded_size, written_size
from contextwright.wire.media import ANTHROPIC_BYTES, MEGABYTE

__all__ = ["settle_size"]

Blocks = list[dict[str, Any]]

STEP = ANTHROPIC_BYTES // 4
"""By how many characters more media are left out each time, so that the cached prefix stays."""


def settle_size(body: dict[str, Any], contents: list[Blocks], changes: list[Change]) -> None:
    """Replace the oldest media with markers until the others fit into one request.

    `contents` are the contents of the turns that are not plain text.
    """
    total = sum(map(encoded_size, contents))
    if total <= ANTHROPIC_BYTES // 2:
        return  # no window holds as much text as would fill the rest
    room = ANTHROPIC_BYTES - (written_size(body) - total)
    if total <= room:
        return
    cut = Cut(total, room)
    for index, message in enumerate(body["messages"]):
        path = f"messages[{index}].content"
        message["content"] = lightened(message["content"], cut, path, changes)


class Cut:
    """Which media are left out: from the oldest on, on a grid of steps over all of them.

    The grid does not move as a history grows, so for most of its growth the same ones are left out.
    """

    def __init__(self, total: int, room: int) -> None:
        self.total, self.room = total, room
        self.end = -((room - total) // STEP) * STEP
        self.passed = 0

    def takes(self, size: int) -> bool:
        """Whether the next media, of that size, are left out."""
        start = self.passed
        self.passed += size
        needed = self.total - start > self.room
        return needed or (start < self.end and size <= STEP)


def lightened(blocks: Blocks, cut: Cut, path: str, changes: list[Change]) -> Blocks:
    """Return the blocks with markers in place of media that are left out."""
    kept: Blocks = []
    for place, block in enumerate(blocks):
        size = encoded_size([block])
        if not size:
            kept.append(block)
        elif "source" not in block:
            inner = lightened(block["content"], cut, f"{path}[{place}].content", changes)
            kept.append({**block, "content": inner})
        elif not cut.takes(size):
            kept.append(block)
        else:
            marker = {key: block[key] for key in ("cache_control",) if key in block}
            kept.append({**marker, "type": "text", "text": f"[{block['type']}]"})
            reason = f"more than {ANTHROPIC_BYTES // MEGABYTE} MB in one request"
            changes.append(Change("loss.media", f"{path}[{place}]", reason))
    return kept
