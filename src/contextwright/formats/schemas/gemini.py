"""Schemas from Gemini's proto, and JSON Schema as Gemini takes it."""

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
    """A Gemini schema as JSON Schema: `nullable` is a type, types are spelled small."""
    plain: Object = {}
    nullable = schema.get("nullable") is True
    for key, value in schema.items():
        name = SPELLED.get(key, key)
        if name == "type" and isinstance(value, str):
            plain["type"] = [value.lower(), "null"] if nullable else value.lower()
        elif name == "example":
            plain["examples"] = [value]
        elif name in COUNTS and isinstance(value, str) and value.isdecimal():
            plain[name] = int(value)  # proto JSON may write 64-bit numbers as text
        elif name not in ("nullable", "propertyOrdering"):
            plain[name] = below_plain(name, value, depth)
    if nullable and is_list(plain.get("enum")) and None not in plain["enum"]:
        plain["enum"] = [*plain["enum"], None]
    if nullable and is_list(plain.get("anyOf")):
        plain["anyOf"] = [*plain["anyOf"], {"type": "null"}]
    return in_order(plain, schema.get("propertyOrdering") or schema.get("property_ordering"))


def below_plain(name: str, value: Any, depth: int) -> Any:
    """A field of a Gemini schema that holds schemas itself; others as they are."""
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
    """The schema with its properties in the order it asks for."""
    properties = schema.get("properties")
    if not is_list(names) or not is_object(properties):
        return schema
    known = [name for name in names if isinstance(name, str) and name in properties]
    schema["properties"] = {name: properties[name] for name in (*known, *properties)}
    return schema


# --- to Gemini -------------------------------------------------------------------------------

BESIDE_REF = ("description", "default")
"""What Gemini takes beside a reference."""
ENFORCED = frozenset(
    (
        "type format title description enum items prefixItems minItems maxItems minimum maximum "
        "anyOf oneOf properties additionalProperties required propertyOrdering default"
    ).split()
)
"""The keywords that shape an answer of Gemini's; it takes others, and does not hold to them."""


def gemini_schema(schema: Object, *, enforced: bool = False) -> Converted:
    """JSON Schema as Gemini takes it, in `parametersJsonSchema` and `responseJsonSchema`.

    `enforced` is for an answer's schema: what Gemini does not hold to is lost there.
    """
    writer = GeminiWriter(schema)
    written = writer.write(schema)
    lost = writer.lost
    if enforced:
        lost += [key for node in nodes_of(written) for key in node if is_unenforced(key)]
        written = rewritten(written, lambda node: with_open_ends(node, written, lost))
    return written, list(dict.fromkeys(lost))


def is_unenforced(key: str) -> bool:
    """Whether Gemini does not hold an answer to a keyword."""
    return key not in ENFORCED and not key.startswith("$") and key != "definitions"


def with_open_ends(schema: Object, root: Object, lost: list[str]) -> Object:
    """An object that demands no property which leads into itself: those Gemini unrolls."""
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


class GeminiWriter:
    """One conversion: where `$ref` leads, and what was lost on the way."""

    def __init__(self, root: Object) -> None:
        self.root = root
        self.room = LARGEST
        self.depth = 0
        self.lost: list[str] = []

    def write(self, schema: Object) -> Object:
        """The schema, all that is in it first."""
        return rewritten(schema, self.one)

    def one(self, schema: Object) -> Object:
        """One schema whose inner ones are written already."""
        if "allOf" in schema:
            return self.merged(schema)
        if "const" in schema:
            schema = self.listed(schema)
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return self.referred(schema, reference)
        return without(schema, "$schema", "$ref")

    def merged(self, schema: Object) -> Object:
        """All of several schemas as one; a single reference among them is that reference."""
        rest = without(schema, "allOf")
        match schema["allOf"]:
            case [{"$ref": str(reference), **others}] if not others and "$ref" not in rest:
                return self.one({**rest, "$ref": reference})
            case _:
                self.lost.append("allOf")
                return self.spelled_out(schema, merged_all(schema, self.root), rest)

    def listed(self, schema: Object) -> Object:
        """A constant as the only value of a list."""
        value = schema["const"]
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self.lost.append("const")
            return without(schema, "const")
        return {**without(schema, "const"), "enum": [value]}

    def referred(self, schema: Object, reference: str) -> Object:
        """A reference alone, or what it stands for with what stood beside it."""
        target = resolved(self.root, reference)
        beside = without(schema, "$ref")
        if target is None:
            self.lost.append(f"$ref {reference}")
            return self.one(beside)
        more = [key for key in beside if key not in BESIDE_REF and not key.startswith("$")]
        if not more:
            return schema
        alone = {key: value for key, value in schema.items() if key not in more}
        return self.spelled_out(schema, {**target, **beside}, alone)

    def spelled_out(self, schema: Object, whole: Object, otherwise: Object) -> Object:
        """What a schema stands for, unless it leads into itself or grows without end."""
        self.room -= 1
        if self.room < 0 or self.depth > DEEPEST // 3 or is_recursive(schema, self.root):
            self.lost.append("depth" if self.room < 0 else "recursion")
            return otherwise
        self.depth += 1
        written = self.write(whole)
        self.depth -= 1
        return written
