"""Schemas from Gemini's proto, and JSON Schema as Gemini accepts it."""

from __future__ import annotations

from typing import Any

from contextwright.formats.schemas.nodes import (
    DEEPEST,
    LARGEST,
    Converted,
    is_recursive,
    nodes_of,
    resolved,
    rewritten,
    without,
)
from contextwright.formats.schemas.objects import merged_all, required_of
from contextwright.wire.gemini.schema import SPELLED
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["gemini_schema", "json_schema"]

COUNTS = frozenset(
    ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
)


# --- from Gemini -----------------------------------------------------------------------------


def json_schema(schema: Object, depth: int = 0) -> Object:
    """Convert a Gemini schema to JSON Schema: `nullable` becomes a type, types are lower-case."""
    plain: Object = {}
    nullable = schema.get("nullable") is True
    for key, value in schema.items():
        name = SPELLED.get(key, key)
        if name == "type" and isinstance(value, str):
            plain["type"] = [value.lower(), "null"] if nullable else value.lower()
        elif name == "example":
            plain["examples"] = [value]
        elif name in COUNTS and isinstance(value, str) and value.isdecimal():
            plain[name] = int(value)  # proto JSON may write 64-bit integers as strings
        elif name not in ("nullable", "propertyOrdering"):
            plain[name] = below_plain(name, value, depth)
    if nullable and is_list(plain.get("enum")) and None not in plain["enum"]:
        plain["enum"] = [*plain["enum"], None]
    if nullable and is_list(plain.get("anyOf")):
        plain["anyOf"] = [*plain["anyOf"], {"type": "null"}]
    return in_order(plain, schema.get("propertyOrdering") or schema.get("property_ordering"))


def below_plain(name: str, value: Any, depth: int) -> Any:
    """Convert a field of a Gemini schema that holds schemas; return others unchanged."""
    if depth > DEEPEST:
        return value
    if name == "items" and is_object(value):
        return json_schema(value, depth + 1)
    if name == "properties" and is_object(value):
        return {
            key: json_schema(inner, depth + 1) if is_object(inner) else inner
            for key, inner in value.items()
        }
    if name == "anyOf" and is_list(value):
        return [json_schema(inner, depth + 1) if is_object(inner) else inner for inner in value]
    return value


def in_order(schema: Object, names: Any) -> Object:
    """Return the schema with its properties in the order it asks for."""
    properties = schema.get("properties")
    if not is_list(names) or not is_object(properties):
        return schema
    known = [name for name in names if isinstance(name, str) and name in properties]
    schema["properties"] = {name: properties[name] for name in (*known, *properties)}
    return schema


# --- to Gemini -------------------------------------------------------------------------------

BESIDE_REF = ("description", "default")
"""Keywords that Gemini accepts next to a reference."""
ENFORCED = frozenset(
    (
        "type format title description enum items prefixItems minItems maxItems minimum maximum "
        "anyOf oneOf properties additionalProperties required propertyOrdering default"
    ).split()
)
"""Keywords that Gemini enforces on an answer; it accepts others without enforcing them."""


def gemini_schema(schema: Object, *, enforced: bool = False) -> Converted:
    """Return JSON Schema as `parametersJsonSchema` and `responseJsonSchema` accept it.

    With `enforced`, for an answer's schema, keywords that Gemini does not enforce count as lost.
    """
    writer = GeminiWriter(schema)
    written = writer.write(schema)
    lost = writer.lost
    if enforced:
        lost += [key for node in nodes_of(written) for key in node if is_unenforced(key)]
        written = rewritten(written, lambda node: with_open_ends(node, written, lost))
    return written, list(dict.fromkeys(lost))


def is_unenforced(key: str) -> bool:
    """Whether Gemini does not enforce a keyword on an answer."""
    return key not in ENFORCED and not key.startswith("$") and key != "definitions"


def with_open_ends(schema: Object, root: Object, lost: list[str]) -> Object:
    """Make recursive properties optional, because Gemini unrolls them."""
    properties = schema.get("properties")
    if not is_object(properties):
        return schema
    endless = [
        name
        for name in required_of(schema)
        if is_object(properties.get(name)) and is_recursive(properties[name], root)
    ]
    if not endless:
        return schema
    lost.append("required (of recursive properties)")
    return {**schema, "required": [name for name in required_of(schema) if name not in endless]}


def is_definition(reference: str) -> bool:
    """Whether a reference is to the root, a definition, or an anchor: any name but a path."""
    return not reference.startswith("#/") or reference.startswith(("#/$defs/", "#/definitions/"))


class GeminiWriter:
    """One conversion: resolves `$ref` and records losses."""

    def __init__(self, root: Object) -> None:
        self.root = root
        self.room = LARGEST
        self.depth = 0
        self.lost: list[str] = []

    def write(self, schema: Object) -> Object:
        """Convert the schema, innermost schemas first."""
        return rewritten(schema, self.one)

    def one(self, schema: Object) -> Object:
        """Convert one schema whose inner schemas are converted already."""
        if "allOf" in schema:
            return self.merged(schema)
        if "const" in schema:
            schema = self.listed(schema)
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return self.referred(schema, reference)
        return without(schema, "$schema", "$ref")

    def merged(self, schema: Object) -> Object:
        """Merge `allOf` into one schema; a single reference stays a reference."""
        rest = without(schema, "allOf")
        match schema["allOf"]:
            case [{"$ref": str(reference), **others}] if not others and "$ref" not in rest:
                return self.one({**rest, "$ref": reference})
            case _:
                self.lost.append("allOf")
                return self.spelled_out(schema, merged_all(schema, self.root), rest)

    def listed(self, schema: Object) -> Object:
        """Write a constant as an enum of one value."""
        value = schema["const"]
        if value is None and schema.get("type", "null") == "null":
            return {**without(schema, "const"), "type": "null"}
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self.lost.append("const")
            return without(schema, "const")
        return {**without(schema, "const"), "enum": [value]}

    def referred(self, schema: Object, reference: str) -> Object:
        """Keep a bare reference; merge one that has sibling keywords with its target."""
        target = resolved(self.root, reference)
        beside = without(schema, "$ref")
        if target is None:
            self.lost.append(f"$ref {reference}")
            return self.one(beside)
        more = [key for key in beside if key not in BESIDE_REF and not key.startswith("$")]
        if not more and is_definition(reference):
            return schema
        alone = {key: value for key, value in schema.items() if key not in more}
        return self.spelled_out(schema, merged_all(schema, self.root), alone)

    def spelled_out(self, schema: Object, whole: Object, otherwise: Object) -> Object:
        """Return the expanded schema, unless it is recursive or grows too large."""
        self.room -= 1
        if self.room < 0 or self.depth > DEEPEST // 3 or is_recursive(schema, self.root):
            self.lost.append("depth" if self.room < 0 else "recursion")
            return self.one(otherwise)
        self.depth += 1
        written = self.write(whole)
        self.depth -= 1
        return written
