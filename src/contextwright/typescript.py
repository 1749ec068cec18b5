"""A tool's definition as the TypeScript that OpenAI's models read it in.

    // Get the current weather for a city.
    type get_weather = (_: {
    city: string,
    units?: "c" | "f"
    }) => any;

The text never leaves this machine; only the tokens of its lines are counted, line by line,
which fits the recorded usage better than the tokens of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contextwright.wire.pieces.piece import Fields, fields, items, json_of, text_of

__all__ = ["declaration"]

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


def declaration(tool: Fields) -> list[str]:
    """The lines that declare one tool."""
    schema = fields(tool.get("parameters"))
    name, described = text_of(tool.get("name")), text_of(tool.get("description"))
    lines = [comment(described)] if described else []
    if not fields(schema.get("properties")):
        return [*lines, f"type {name} = () => any;"]
    about = [comment(schema["description"])] if schema.get("description") else []
    body = properties(schema, Definitions(schema), 0)
    return [*lines, f"type {name} = (_: {{", *about, *body, "}) => any;"]


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
    """A description as one comment line."""
    return "// " + " ".join(text_of(text).split())


def properties(schema: Fields, definitions: Definitions, depth: int) -> Iterator[str]:
    """The lines of an object's properties."""
    required = items(schema.get("required"))
    named = fields(schema.get("properties"))
    for index, (name, given) in enumerate(named.items()):
        described = fields(given).get("description")
        if described:
            yield comment(described).rstrip(".")
        optional = "" if name in required else "?"
        comma = "" if index == len(named) - 1 else ","
        first, *rest = type_of(given, definitions, depth + 1).split("\n")
        yield f"{name}{optional}: {first}{'' if rest else comma}"
        for number, line in enumerate(rest, 1):
            yield line + (comma if number == len(rest) else "")


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
            return "\n".join(["{", *properties(schema, definitions, depth + 1), "}"])
        case "object":
            return "object"
        case simple:
            names = items(simple) or [simple]
            return " | ".join(NAMES.get(text_of(name), "any") for name in names)
