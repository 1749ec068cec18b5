"""The schemas in a schema, and where its references lead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from contextwright.wire.values import Object, is_list, is_object

__all__ = [
    "COMBINERS",
    "DEEPEST",
    "LARGEST",
    "Converted",
    "is_recursive",
    "nodes_of",
    "resolved",
    "rewritten",
    "without",
]

Converted: TypeAlias = tuple[Object, list[str]]

DEEPEST = 60
"""Deeper schemas are left as they are: no API takes them, and the stack has an end."""
LARGEST = 2_000
"""So many schemas one may hold once its references are written out; they can double each time."""
COMBINERS = ("allOf", "anyOf", "oneOf")
HOLDING_ONE = ("items", "not", "additionalProperties", "contains", "if", "then", "else")
HOLDING_LIST = (*COMBINERS, "prefixItems")
HOLDING_NAMED = ("properties", "$defs", "definitions", "patternProperties")


def rewritten(schema: Object, rewrite: Callable[[Object], Object], depth: int = 0) -> Object:
    """A schema with all schemas in it written anew, the innermost first."""
    if depth > DEEPEST:
        return schema

    def inner(value: Any) -> Any:
        return rewritten(value, rewrite, depth + 1) if is_object(value) else value

    written = dict(schema)
    for key, value in schema.items():
        if key in HOLDING_ONE:
            written[key] = inner(value)
        elif key in HOLDING_LIST and is_list(value):
            written[key] = list(map(inner, value))
        elif key in HOLDING_NAMED and is_object(value):
            written[key] = {name: inner(one) for name, one in value.items()}
    return rewrite(written)


def nodes_of(schema: Object) -> list[Object]:
    """A schema and all schemas in it."""
    found: list[Object] = []

    def note(node: Object) -> Object:
        found.append(node)
        return node

    rewritten(schema, note)
    return found


def is_recursive(schema: Object, root: Object) -> bool:
    """Whether a schema leads into itself by its references."""
    done: set[str] = set()
    path = {"": iter(references_in(schema))}  # the references that lead here, the last one open
    while path:
        here = next(reversed(path))
        for reference in path[here]:
            if reference in path:
                return True
            target = resolved(root, reference)
            if reference not in done and target is not None:
                path[reference] = iter(references_in(target))
                break
        else:
            done.add(here)
            del path[here]
    return False


def references_in(schema: Object) -> list[str]:
    """The references of a schema, without those of its definitions."""
    used = {key: value for key, value in schema.items() if key not in ("$defs", "definitions")}
    found = (node.get("$ref") for node in nodes_of(used))
    return list(dict.fromkeys(one for one in found if isinstance(one, str)))


def resolved(root: Object, reference: str) -> Object | None:
    """The schema that a reference within the document points to."""
    if not reference.startswith("#"):
        return None
    here: Any = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        if step:
            step = step.replace("~1", "/").replace("~0", "~")
            here = here.get(step) if is_object(here) else None
    return here if is_object(here) else None


def without(schema: Object, *keys: str) -> Object:
    """The schema without some of its keywords."""
    return {key: value for key, value in schema.items() if key not in keys}
