"""Tools' definitions as the TypeScript that OpenAI's models read them in.

    // Get the current weather for a city.
    type get_weather = (_: {
    city: string,
    units?: "c" | "f"}) => any;

The text never leaves this machine; only its tokens are counted. Which line breaks stand where was
found by counting: this is the spelling that agrees with recorded usage to the token.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from contextwright.wire.pieces.piece import Fields, fields, items, json_of, text_of

__all__ = ["declaration", "declarations", "is_confirmed"]

DEEPEST = 12
LARGEST = 5_000
"""A schema deeper or larger than this is cut off as `any`: it may contain itself."""

NAMES = {
    "string": "string",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "null": "null",
}


def declarations(tools: Iterable[Fields]) -> str:
    """All tools of a request, declared one after the other."""
    return "\n\n".join(map(declaration, tools))


def declaration(tool: Fields) -> str:
    """One tool, declared."""
    schema = fields(tool.get("parameters"))
    name, described = text_of(tool.get("name")), text_of(tool.get("description"))
    above = comment(described) if described else ""
    if not fields(schema.get("properties")):
        return f"{above}type {name} = () => any;"
    about = comment(schema["description"]) if schema.get("description") else ""
    inside = properties(schema, Definitions(schema), 0)
    return f"{above}type {name} = (_: {{\n{about}{inside}}}) => any;"


def is_confirmed(tool: Fields) -> bool:
    """Recorded requests confirm the spelling of such a tool: one line about it, simple parameters.

    How models read described parameters, choices, lists and objects was seen too seldom.
    """
    schema = tool.get("parameters")
    if not isinstance(schema, dict) or "\n" in text_of(tool.get("description")):
        return False
    told = fields(schema)
    named = fields(told.get("properties"))
    return not told.get("description") and all(map(is_simple, named.values()))


def is_simple(schema: Any) -> bool:
    """A schema says no more than a simple type."""
    told = fields(schema)
    return told.keys() == {"type"} and text_of(told["type"]) in NAMES


class Definitions:
    """The named schemas of one tool, which `$ref` points to."""

    def __init__(self, schema: Fields) -> None:
        self.named = {**fields(schema.get("definitions")), **fields(schema.get("$defs"))}
        self.left = LARGEST

    def resolve(self, schema: Any) -> Fields:
        """The schema itself, or the one it refers to."""
        found = fields(schema)
        reference = found.get("$ref")
        if isinstance(reference, str):
            return fields(self.named.get(reference.rsplit("/", 1)[-1]))
        return found


def comment(text: Any) -> str:
    """A description as a comment on its own line; further lines follow without their indent."""
    return "// " + "\n".join(map(str.strip, text_of(text).split("\n"))) + "\n"


def properties(schema: Fields, definitions: Definitions, depth: int) -> str:
    """An object's properties, each on its own line."""
    return ",\n".join(property_lines(schema, definitions, depth))


def property_lines(schema: Fields, definitions: Definitions, depth: int) -> Iterator[str]:
    """Each property with its comment."""
    required = items(schema.get("required"))
    for name, given in fields(schema.get("properties")).items():
        described = fields(given).get("description")
        above = comment(described) if described else ""
        optional = "" if name in required else "?"
        yield f"{above}{name}{optional}: {type_of(given, definitions, depth + 1)}"


def type_of(given: Any, definitions: Definitions, depth: int) -> str:
    """A schema as a type, over several lines where it is an object."""
    definitions.left -= 1
    if depth > DEEPEST or definitions.left < 0:
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
