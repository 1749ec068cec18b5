"""Tools, calls and results as Gemini 3 reads them: the published format of Gemma's tools.

    <tool>declaration:get_weather{description:"Get the weather.",parameters:{…}}</tool>
    <call>call:get_weather{city:"Kyiv"}</call>
    <response>response:get_weather{result:"sunny"}</response>

Each tag and each quotation mark is one special token. So a text here is a list of parts, with
one special token between any two of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from contextwright.tokens.pieces.piece import Fields, fields, items, json_of, text_of
from contextwright.tokens.spelling.schemas import Definitions

__all__ = ["arguments", "call", "response", "result", "tools"]

QUOTE = "\ufdd0"
"""A code point for a special token that Unicode reserves and no text contains."""

UNREAD = ("additionalProperties", "$defs", "definitions", "$schema", "title")
"""Fields of a schema that the format has no place for."""


def tools(declared: Iterable[Fields]) -> list[str]:
    """Return the declarations of tools, as parts between special tokens."""
    return parts("".join(map(declaration, declared)))


def call(name: str) -> list[str]:
    """Return the text before the arguments of a call."""
    return parts(f"{QUOTE}call:{name}{QUOTE}")


def arguments(given: Any) -> list[str]:
    """Return the arguments of a call."""
    return parts(spelled(fields(given)))


def result(name: str) -> list[str]:
    """Return the text before the value of a result."""
    return parts(f"{QUOTE}response:{name}{QUOTE}")


def response(given: Any) -> list[str]:
    """Return the value of a result."""
    return parts(spelled(given))


def parts(text: str) -> list[str]:
    """Return the parts of a text between its special tokens."""
    return text.split(QUOTE)


def declaration(tool: Fields) -> str:
    """Return one tool as a declaration."""
    schema = fields(tool.get("parameters"))
    definition: Fields = {}
    if description := text_of(tool.get("description")):
        definition["description"] = description
    definition["parameters"] = plain(schema, Definitions(schema), 0)
    return f"{QUOTE}declaration:{text_of(tool.get('name'))}{spelled(definition)}{QUOTE}"


def plain(given: Any, definitions: Definitions, depth: int) -> Any:
    """Return a schema with references resolved, types in capitals and fields in order."""
    if not isinstance(given, dict | list):
        return given
    if not definitions.enter(depth):
        return {}
    if isinstance(given, list):
        return [plain(item, definitions, depth + 1) for item in items(given)]
    found: Fields = {}
    for name, value in sorted(definitions.resolve(given).items(), key=lambda pair: str(pair[0])):
        if name == "properties":
            listed = fields(value).items()
            if listed:
                found[name] = {key: plain(one, definitions, depth + 1) for key, one in listed}
        elif name == "type" and isinstance(value, str):
            found[name] = value.upper()
        elif name not in UNREAD:
            found[name] = plain(value, definitions, depth + 1)
    return found


def spelled(value: Any) -> str:
    """Return a JSON value with bare names and special tokens as quotation marks."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{name}:{spelled(one)}" for name, one in fields(value).items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(spelled, items(value))) + "]"
    if isinstance(value, str):
        return f"{QUOTE}{value.replace(QUOTE, ' ')}{QUOTE}"
    return json_of(value)
