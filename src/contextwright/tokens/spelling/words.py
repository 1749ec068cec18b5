"""Tools, calls and results as Gemini up to 2.0 and Vertex AI bill them: their words alone.

Names, descriptions, keys and values count one by one; braces and quotation marks are free.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from contextwright.tokens.pieces.piece import Fields, fields, items, text_of
from contextwright.tokens.spelling.schemas import Definitions

__all__ = ["arguments", "call", "response", "result", "schema", "tools"]

LISTED = ("enum", "required", "property_ordering", "propertyOrdering")
INSIDE = ("anyOf", "any_of", "oneOf", "prefixItems")


def tools(declared: Iterable[Fields]) -> list[str]:
    """Return the words of tool definitions."""
    found: list[str] = []
    for tool in declared:
        found += [text_of(tool.get("name")), text_of(tool.get("description"))]
        found += schema(tool.get("parameters"))
    return found


def call(name: str) -> list[str]:
    """Return the words of a call without its arguments."""
    return [name]


def arguments(given: Any) -> list[str]:
    """Return the names and values of arguments."""
    return list(words(given))


result, response = call, arguments


def schema(given: Any) -> list[str]:
    """Return the words of a JSON schema."""
    return list(schema_words(given, Definitions(fields(given)), 0))


def words(value: Any) -> Iterator[str]:
    """Yield the keys and values of a JSON value."""
    if isinstance(value, dict):
        for name, one in fields(value).items():
            yield name
            yield from words(one)
    elif isinstance(value, list):
        for one in items(value):
            yield from words(one)
    elif isinstance(value, str):
        yield value


def schema_words(given: Any, definitions: Definitions, depth: int) -> Iterator[str]:
    """Yield the words of a schema and of those inside it."""
    if not definitions.enter(depth):
        return
    found = definitions.resolve(given)
    if found.get("type"):
        yield "type"
    for name in ("format", "title", "description"):
        if isinstance(found.get(name), str):
            yield found[name]
    for name in LISTED:
        yield from map(text_of, items(found.get(name)))
    for name, value in fields(found.get("properties")).items():
        yield text_of(name)
        yield from schema_words(value, definitions, depth + 1)
    for name in INSIDE:
        for variant in items(found.get(name)):
            yield from schema_words(variant, definitions, depth + 1)
    if "items" in found:
        yield from schema_words(found["items"], definitions, depth + 1)
