"""What the Messages API refuses beside JSON output."""

from __future__ import annotations

from collections.abc import Iterator

from contextwright.errors import Problem
from contextwright.wire.anthropic.citations import is_cited, sources_in
from contextwright.wire.anthropic.turns import Turn, is_hosted
from contextwright.wire.values import Object, is_object

__all__ = ["output_path", "output_problems"]


def output_path(payload: Object) -> str | None:
    """Return where a request asks for JSON, if it does: also where it did while that was new."""
    config = payload.get("output_config")
    if is_object(config) and config.get("format"):
        return "output_config.format"
    return "output_format" if payload.get("output_format") else None


def output_problems(turns: list[Turn], payload: Object) -> Iterator[Problem]:
    """JSON output goes with neither citations nor an answer that has begun."""
    path = output_path(payload)
    if path is None:
        return
    last = turns[-1] if turns else None
    if last and last.role == "assistant" and last.blocks and not is_hosted(last.blocks[-1].kind):
        yield Problem("A-output", path, "refused if the request ends with an assistant turn")
    blocks = (block.fields for turn in turns for block in turn.blocks)
    if any(map(is_cited, sources_in(blocks))):
        yield Problem("A-output", path, "not allowed together with citations")
