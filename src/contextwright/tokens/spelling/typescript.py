"""Tool definitions as OpenAI's models read them: TypeScript.

    // Get the current weather for a city.
    type get_weather = (_: {
    city: string,
    units?: "c" | "f"}) => any;

Where the line breaks stand was found by counting: this spelling agrees with recorded usage to the
token.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from contextwright.tokens.pieces.piece import Fields, fields, items, json_of, text_of
from contextwright.tokens.spelling.schemas import Definitions

__all__ = ["declaration", "declarations", "is_confirmed"]

NAMES = {
    "string": "string",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "null": "null",
}


def declarations(tools: Iterable[Fields]) -> str:
    """Return the declarations of all tools of a request."""
    return "\n\n".join(map(declaration, tools))


def declaration(tool: Fields) -> str:
    """Return the declaration of one tool."""
    schema = fields(tool.get("parameters"))
    name, described = text_of(tool.get("name")), text_of(tool.get("description"))
    above = comment(described) if described else ""
    if not fields(schema.get("properties")):
        return f"{above}type {name} = () => any;"
    about = comment(schema["description"]) if schema.get("description") else ""
    inside = properties(schema, Definitions(schema), 0)
    return f"{above}type {name} = (_: {{\n{about}{inside}}}) => any;"


def is_confirmed(tool: Fields) -> bool:
    """Whether recorded requests confirm the spelling: one line of description, simple parameters.

    How models read described parameters, choices, lists and objects was seen too seldom.
    """
    schema = tool.get("parameters")
    if not isinstance(schema, dict) or "\n" in text_of(tool.get("description")):
        return False
    entry = fields(schema)
    named = fields(entry.get("properties"))
    return not entry.get("description") and all(map(is_simple, named.values()))


def is_simple(schema: Any) -> bool:
    """Whether a schema has only a simple type."""
    entry = fields(schema)
    return entry.keys() == {"type"} and text_of(entry["type"]) in NAMES


def comment(text: Any) -> str:
    """Return a description as a comment; its further lines follow without their indent."""
    return "// " + "\n".join(map(str.strip, text_of(text).split("\n"))) + "\n"


def properties(schema: Fields, definitions: Definitions, depth: int) -> str:
    """Return an object's properties, each on its own line."""
    return ",\n".join(property_lines(schema, definitions, depth))


def property_lines(schema: Fields, definitions: Definitions, depth: int) -> Iterator[str]:
    """Yield each property with its comment."""
    required = items(schema.get("required"))
    for name, given in fields(schema.get("properties")).items():
        described = fields(given).get("description")
        above = comment(described) if described else ""
        optional = "" if name in required else "?"
        yield f"{above}{name}{optional}: {type_of(given, definitions, depth + 1)}"


def type_of(given: Any, definitions: Definitions, depth: int) -> str:
    """Return the type of a schema; an object takes several lines."""
    if not definitions.enter(depth):
        return "any"
    schema = definitions.resolve(given)
    if choices := items(schema.get("enum")):
        return " | ".join(map(json_of, choices))
    if "const" in schema:
        return json_of(schema["const"])
    for union in ("anyOf", "oneOf", "allOf"):
        if variants := items(schema.get(union)):
            return " | ".join(type_of(variant, definitions, depth + 1) for variant in variants)
    match schema.get("type"):
        case "array":
            return type_of(schema.get("items"), definitions, depth + 1) + "[]"
        case "object" if fields(schema.get("properties")):
            return f"{{\n{properties(schema, definitions, depth + 1)}}}"
        case "object":
            return "object"
        case simple:
            names = items(simple) or [simple]
            return " | ".join(NAMES.get(text_of(name), "any") for name in names)
