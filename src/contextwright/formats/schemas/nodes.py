"""The schemas inside a schema, and the targets of its references."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias
from urllib.parse import unquote

from contextwright.wire.json_schema import HOLDING_LIST, HOLDING_NAMED, HOLDING_ONE
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
"""Maximum depth. Deeper schemas stay unchanged: no API accepts them, and the stack is limited."""
LARGEST = 2_000
"""Maximum number of schemas after expanding references, which can double with each one."""
COMBINERS = ("allOf", "anyOf", "oneOf")


def rewritten(schema: Object, rewrite: Callable[[Object], Object], depth: int = 0) -> Object:
    """Rewrite a schema and all schemas in it, innermost first."""
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
    """Return a schema and all schemas in it."""
    found: list[Object] = []

    def note(node: Object) -> Object:
        found.append(node)
        return node

    rewritten(schema, note)
    return found


def is_recursive(schema: Object, root: Object) -> bool:
    """Whether a schema refers back to itself."""
    done: set[str] = set()
    # the references on the current path, the last one open
    path = {"": iter(references_in(schema))}
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
    """Return the references of a schema, except those in its definitions."""
    used = {key: value for key, value in schema.items() if key not in ("$defs", "definitions")}
    found = (node.get("$ref") for node in nodes_of(used))
    return list(dict.fromkeys(one for one in found if isinstance(one, str)))


def resolved(root: Object, reference: str) -> Object | None:
    """Return the schema that a reference within the document points to."""
    pointer = unquote(reference.removeprefix("#"))
    if not reference.startswith("#"):
        return None
    if pointer and not pointer.startswith("/"):
        return next((node for node in nodes_of(root) if node.get("$anchor") == pointer), None)
    here: Any = root
    for step in filter(None, pointer.split("/")):
        step = step.replace("~1", "/").replace("~0", "~")
        if is_list(here) and step.isdecimal():
            here = here[int(step)] if int(step) < len(here) else None
        else:
            here = here.get(step) if is_object(here) else None
    return here if is_object(here) else None


def without(schema: Object, *keys: str) -> Object:
    """Return the schema without these keywords."""
    return {key: value for key, value in schema.items() if key not in keys}
