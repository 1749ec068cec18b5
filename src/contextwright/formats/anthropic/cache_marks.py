"""The cache breakpoints of a Messages request, made legal."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from contextwright.messages.changes import Change
from contextwright.wire.anthropic.rules import MAX_CACHE_MARKS, is_deferred
from contextwright.wire.shapes import objects_in

__all__ = ["settle_cache_marks"]

MARKED = ("tools", "system", "messages")
"""Where cache breakpoints may be, in prompt order."""


def settle_cache_marks(
    body: dict[str, Any], contents: list[list[dict[str, Any]]], changes: list[Change]
) -> None:
    """Keep at most four cache breakpoints, 1h before 5m: the stable ends and the newest.

    `contents` are the contents of the turns that are not plain text.
    """
    steady = marked_in(body.get("tools"), "tools") or marked_in(body.get("system"), "system")
    if not steady and not any(may_hold_mark(block) for blocks in contents for block in blocks):
        return
    if not marks_of(body):
        return
    for field in MARKED:
        if field in body:
            # Opaque blocks belong to the caller: copy them before a change.
            body[field] = deepcopy(body[field])
    marked: list[tuple[str, dict[str, Any]]] = []
    for path, holder in marks_of(body):
        if is_deferred(holder):
            del holder["cache_control"]
            changes.append(Change("loss.cache_mark", path, "a deferred tool is not cached"))
        else:
            marked.append((path, holder))
    allowed = MAX_CACHE_MARKS - (1 if body.get("cache_control") else 0)
    if len(marked) > allowed:
        stable = [
            max(index for index, (path, _) in enumerate(marked) if path.startswith(field))
            for field in ("tools", "system")
            if any(path.startswith(field) for path, _ in marked)
        ]
        others = [index for index in range(len(marked)) if index not in stable]
        kept = {*stable, *others[len(others) - max(allowed - len(stable), 0) :]}
        for index, (path, holder) in enumerate(marked):
            if index not in kept:
                del holder["cache_control"]
                changes.append(Change("loss.cache_mark", path, "at most 4 cache marks"))
        marked = [entry for index, entry in enumerate(marked) if index in kept]
    if body.get("cache_control"):
        marked.append(("cache_control", body))  # the automatic one, which is on the last block
    short_lived = False
    for path, holder in marked:
        mark = holder["cache_control"]
        if mark.get("ttl") != "1h":
            short_lived = True
        elif short_lived:
            holder["cache_control"] = {"type": "ephemeral"}
            changes.append(Change("repair.cache_mark", path, "a 1h mark cannot follow a 5m mark"))


def may_hold_mark(block: dict[str, Any]) -> bool:
    """Whether a block has a cache breakpoint, or inner blocks that may have one."""
    return "cache_control" in block or isinstance(block.get("content"), (list, tuple))


def marks_of(body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return everything that has a cache breakpoint, with its path."""
    return [found for field in MARKED for found in marked_in(body.get(field), field)]


def marked_in(value: Any, path: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the tools or blocks that have a cache breakpoint, in prompt order."""
    found: list[tuple[str, dict[str, Any]]] = []
    for index, item in objects_in(value):
        place = f"{path}[{index}]"
        found.extend(marked_in(item.get("content"), f"{place}.content"))
        if isinstance(item.get("cache_control"), dict):
            found.append((place, item))
    return found
