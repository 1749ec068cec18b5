"""The cache breakpoints of a Messages request, made legal."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, TypeAlias

from contextwright.messages.changes import Change
from contextwright.wire.anthropic.rules import MAX_CACHE_MARKS, is_deferred
from contextwright.wire.shapes import objects_in

__all__ = ["settle_cache_marks"]

Marked: TypeAlias = list[tuple[str, dict[str, Any]]]
"""Objects with a cache breakpoint, each with its path."""

MARKED = ("tools", "system", "messages")
"""Fields that may have cache breakpoints, in prompt order."""


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
    marked = without_deferred(marks_of(body), changes)
    automatic = [("cache_control", body)] if body.get("cache_control") else []  # on the last block
    kept = without_excess(marked, MAX_CACHE_MARKS - len(automatic), changes)
    settle_lifetimes([*kept, *automatic], changes)


def without_deferred(marked: Marked, changes: list[Change]) -> Marked:
    """Remove the breakpoints of deferred tools; return the others."""
    kept: Marked = []
    for path, holder in marked:
        if is_deferred(holder):
            del holder["cache_control"]
            changes.append(Change("loss.cache_mark", path, "a deferred tool is not cached"))
        else:
            kept.append((path, holder))
    return kept


def without_excess(marked: Marked, allowed: int, changes: list[Change]) -> Marked:
    """Remove breakpoints beyond a number: all but the last tool's, the last system text's and the
    newest ones; return the others.
    """
    if len(marked) <= allowed:
        return marked
    places = range(len(marked))
    stable: set[int] = set()
    for field in ("tools", "system"):
        stable.update([place for place in places if marked[place][0].startswith(field)][-1:])
    others = [place for place in places if place not in stable]
    kept = stable.union(others[len(others) - max(allowed - len(stable), 0) :])
    for place in others:
        if place not in kept:
            path, holder = marked[place]
            del holder["cache_control"]
            changes.append(Change("loss.cache_mark", path, "at most 4 cache marks"))
    return [marked[place] for place in sorted(kept)]


def settle_lifetimes(marked: Marked, changes: list[Change]) -> None:
    """Shorten breakpoints of an hour that follow one of five minutes."""
    short_lived = False
    for path, holder in marked:
        if holder["cache_control"].get("ttl") != "1h":
            short_lived = True
        elif short_lived:
            holder["cache_control"] = {"type": "ephemeral"}
            changes.append(Change("repair.cache_mark", path, "a 1h mark cannot follow a 5m mark"))


def may_hold_mark(block: dict[str, Any]) -> bool:
    """Whether a block has a cache breakpoint, or inner blocks that may have one."""
    return "cache_control" in block or isinstance(block.get("content"), (list, tuple))


def marks_of(body: dict[str, Any]) -> Marked:
    """Return everything that has a cache breakpoint, with its path."""
    return [found for field in MARKED for found in marked_in(body.get(field), field)]


def marked_in(value: Any, path: str) -> Marked:
    """Return the tools or blocks that have a cache breakpoint, in prompt order."""
    found: Marked = []
    for index, item in objects_in(value):
        place = f"{path}[{index}]"
        found.extend(marked_in(item.get("content"), f"{place}.content"))
        if isinstance(item.get("cache_control"), dict):
            found.append((place, item))
    return found
