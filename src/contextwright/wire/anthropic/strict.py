"""How much the strict tools of a Messages request may hold in all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contextwright.wire.values import Object, is_list, is_object

__all__ = ["beyond_limits"]

LIMITS = (
    (20, "at most 20 strict tools"),
    (24, "at most 24 optional parameters in all strict tools"),
    (16, "at most 16 parameters of several types in all strict tools"),
)


def beyond_limits(tools: list[tuple[int, Object]]) -> Iterator[tuple[int, str]]:
    """Yield each strict tool that is one too many beside those before it, with the reason."""
    used = (0, 0, 0)
    for index, tool in tools:
        if tool.get("strict") is not True or tool.get("type") not in (None, "custom"):
            continue
        optional, unions = parameters_in(tool.get("input_schema"))
        wanted = (used[0] + 1, used[1] + optional, used[2] + unions)
        counted = zip(wanted, LIMITS, strict=True)
        exceeded = [reason for number, (most, reason) in counted if number > most]
        if exceeded:
            yield index, exceeded[0]
        else:
            used = wanted


def parameters_in(schema: Any) -> tuple[int, int]:
    """Count the optional parameters, and those of several types, at any depth of a schema."""
    optional = unions = 0
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if is_list(node):
            waiting.extend(node)
        if not is_object(node):
            continue
        unions += is_list(node.get("type")) or "anyOf" in node
        required = node.get("required")
        for field in ("properties", "$defs", "definitions"):
            named = node.get(field)
            if is_object(named):
                waiting.extend(named.values())
                if field == "properties":
                    needed = required if is_list(required) else []
                    optional += sum(name not in needed for name in named)
        waiting.extend(node.get(field) for field in ("items", "anyOf"))
    return optional, unions
