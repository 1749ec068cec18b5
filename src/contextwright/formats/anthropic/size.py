"""The size of a Messages request, made legal."""

from __future__ import annotations

from typing import Any

from contextwright.messages.changes import Change
from contextwright.wire.anthropic.media import encoded_size
from contextwright.wire.media import ANTHROPIC_BYTES, MEGABYTE

__all__ = ["settle_size"]

Blocks = list[dict[str, Any]]


def settle_size(body: dict[str, Any], contents: list[Blocks], changes: list[Change]) -> None:
    """Replace the oldest media with markers until the others fit into one request.

    `contents` are the contents of the turns that are not plain text.
    """
    excess = sum(map(encoded_size, contents)) - ANTHROPIC_BYTES
    if excess <= 0:
        return
    for index, message in enumerate(body["messages"]):
        path = f"messages[{index}].content"
        message["content"], excess = lightened(message["content"], excess, path, changes)


def lightened(blocks: Blocks, excess: int, path: str, changes: list[Change]) -> tuple[Blocks, int]:
    """Return the blocks with markers in place of media, and how much is still too much."""
    kept: Blocks = []
    for place, block in enumerate(blocks):
        size = encoded_size([block]) if excess > 0 else 0
        if not size:
            kept.append(block)
        elif "source" in block:
            marker = {key: block[key] for key in ("cache_control",) if key in block}
            kept.append({**marker, "type": "text", "text": f"[{block['type']}]"})
            excess -= size
            reason = f"more than {ANTHROPIC_BYTES // MEGABYTE} MB of media in one request"
            changes.append(Change("loss.media", f"{path}[{place}]", reason))
        else:
            inner, excess = lightened(block["content"], excess, f"{path}[{place}].content", changes)
            kept.append({**block, "content": inner})
    return kept, excess
