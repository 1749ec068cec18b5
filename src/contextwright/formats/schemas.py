"""Schemas of tools between three dialects.

Ours is plain JSON Schema. Gemini's `parameters` is a proto that knows a part of OpenAPI;
Anthropic takes JSON Schema whose root is one plain object. Each function gives the schema and
what of it could not be said, for a `Change`; where nothing is lost the list is empty.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias, TypeGuard

from contextwright.wire.gemini.schema import SPELLED
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["closed_schema", "gemini_schema", "json_schema", "object_schema"]

Converted: TypeAlias = tuple[Object, list[str]]

DEEPEST = 60
"""Deeper schemas are cut off as "anything": no API takes them, and Python's stack has an end."""
LARGEST = 2_000
"""So many schemas one may hold once its references are written out; they can double each time."""
COMBINERS = ("allOf", "anyOf", "oneOf")
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


def gemini_schema(schema: Object) -> Converted:
    """JSON Schema as Gemini's proto, for hosts that know no `parametersJsonSchema`."""
    writer = ProtoWriter(schema)
    return writer.write(schema, ()), list(dict.fromkeys(writer.lost))


class ProtoWriter:
    """One conversion: where `$ref` leads, and what was lost on the way."""

    def __init__(self, root: Object) -> None:
        self.root = root
        self.room = LARGEST
        self.lost: list[str] = []

    def write(self, schema: Any, inside: tuple[str, ...]) -> Object:
        """One schema; `inside` names the references it was reached by."""
        if not is_object(schema):
            return {}
        self.room -= 1
        if len(inside) > DEEPEST or self.room < 0:
            self.lost.append("depth")
            return {}
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return self.follow(schema, reference, inside)
        if "allOf" in schema:
            self.lost.append("allOf")
            schema = merged_all(schema, self.root)
        proto: Object = {}
        self.write_type(schema, proto, inside)
        for key, value in schema.items():
            self.write_field(key, value, proto, inside)
        if proto.get("type") == "ARRAY" and "items" not in proto:
            proto["items"] = {"type": "STRING"}  # the proto wants to know
            self.lost.append("items")
        return proto

    def follow(self, schema: Object, reference: str, inside: tuple[str, ...]) -> Object:
        """What a reference stands for; one that leads into itself is any object."""
        found = resolved(self.root, reference)
        if reference in inside or found is None:
            self.lost.append(f"$ref {reference}")
            return {"type": "OBJECT"}
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return self.write({**found, **beside}, (*inside, reference))

    def write_type(self, schema: Object, proto: Object, inside: tuple[str, ...]) -> None:
        """Type, nullability, alternatives and values: four words that lean on each other."""
        given = schema.get("type")
        types = [t for t in (given if is_list(given) else [given]) if isinstance(t, str)]
        options = schema.get("anyOf") or schema.get("oneOf")
        branches = [option for option in options if is_object(option)] if is_list(options) else []
        spoken = [branch for branch in branches if branch.get("type") != "null"]
        if "null" in types or len(spoken) < len(branches):
            proto["nullable"] = True
        types = [t for t in types if t != "null"]
        if len(types) == 1:
            proto["type"] = types[0].upper()
        elif types:
            known = {key: schema[key] for key in ("items", "properties") if key in schema}
            proto["anyOf"] = [self.write({**known, "type": t}, (*inside, "type")) for t in types]
        if len(spoken) == 1:
            proto.update(self.write(spoken[0], (*inside, "anyOf")))
        elif spoken:
            proto["anyOf"] = [self.write(branch, (*inside, "anyOf")) for branch in spoken]
        if "oneOf" in schema:
            self.lost.append("oneOf")
        self.write_values(schema, proto)
        if proto.keys() == {"nullable"}:
            del proto["nullable"]
            proto["type"] = "NULL"  # nothing but null is left

    def write_values(self, schema: Object, proto: Object) -> None:
        """The values allowed: texts alone can be listed, others only told."""
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if not is_list(values):
            return
        if None in values:
            proto["nullable"] = True
        said = [value for value in values if value is not None]
        if not all(isinstance(value, str) for value in said):
            self.lost.append("enum")
        elif said:
            proto["type"] = "STRING"
            proto["enum"] = said

    def write_field(self, key: str, value: Any, proto: Object, inside: tuple[str, ...]) -> None:
        """One keyword that is neither type nor choice."""
        if key in ("type", "nullable", "enum", "const", "$schema", "$id", "$defs", "definitions"):
            return
        if key in COMBINERS:
            return
        if key == "properties" and is_object(value):
            below = (*inside, "properties")
            proto[key] = {name: self.write(inner, below) for name, inner in value.items()}
        elif key == "items" and is_object(value):
            proto[key] = self.write(value, (*inside, "items"))
        elif key == "prefixItems" and is_list(value) and value:
            self.lost.append(key)
            proto["items"] = self.write({"anyOf": value}, (*inside, "items"))
        elif key == "examples" and is_list(value) and value:
            proto["example"] = value[0]
        elif key in ("exclusiveMinimum", "exclusiveMaximum") and is_number(value):
            self.write_bound(key, value, proto)
        elif key == "format" and value not in formats_of(proto.get("type")):
            self.lost.append(f"format {value}")
        elif key in SPELLED and key not in proto:
            proto[key] = value
        elif key not in SPELLED:
            self.lost.append(key)

    def write_bound(self, key: str, value: float, proto: Object) -> None:
        """An open bound: the next whole number is the same, any other bound is a little wide."""
        step = 1 if key == "exclusiveMinimum" else -1
        name = "minimum" if step == 1 else "maximum"
        if proto.get("type") == "INTEGER" and value == int(value):
            proto[name] = int(value) + step
        else:
            proto[name] = value
            self.lost.append(key)


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a number; in old drafts of JSON Schema a bound may be true or false."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def formats_of(type_: Any) -> tuple[str, ...]:
    """The formats that the API knows for a type; any other is refused."""
    match type_:
        case "STRING":
            return ("enum", "date-time")
        case "NUMBER":
            return ("float", "double")
        case "INTEGER":
            return ("int32", "int64")
        case _:
            return ()


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


# --- to Anthropic ----------------------------------------------------------------------------


def object_schema(schema: Object) -> Converted:
    """JSON Schema whose root is an object, without alternatives at the top.

    A root that is nothing but a reference is replaced by what it points to. Alternatives become
    one object that allows the properties of each and demands those that all of them demand.
    """
    lost: list[str] = []
    seen: set[str] = set()
    while isinstance(reference := schema.get("$ref"), str) and reference not in seen:
        seen.add(reference)
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**(resolved(schema, reference) or {}), **beside}
    if "$ref" in schema:
        lost.append("$ref")
        schema = {key: value for key, value in schema.items() if key != "$ref"}
    for word in COMBINERS:
        if word in schema:
            lost.append(word)
            schema = merged_all(schema, schema) if word == "allOf" else merged_any(schema, word)
    given = schema.get("type")
    if given == "object":
        return schema, lost
    if given is None or (is_list(given) and "object" in given):
        return {**schema, "type": "object"}, lost
    return {"type": "object"}, [*lost, "type"]


def closed_schema(schema: Object, depth: int = 0) -> tuple[Object, bool]:
    """A schema whose objects allow their own properties alone, and whether any was open."""
    changed = schema.get("type") == "object" and schema.get("additionalProperties") is not False
    closed: Object = {**schema, "additionalProperties": False} if changed else {**schema}
    if depth > DEEPEST:
        return closed, changed
    for key in ("items", "not"):
        if is_object(closed.get(key)):
            closed[key], inner = closed_schema(closed[key], depth + 1)
            changed = changed or inner
    for key in ("properties", "$defs", "definitions"):
        if is_object(closed.get(key)):
            pairs = {
                name: closed_schema(inner, depth + 1) if is_object(inner) else (inner, False)
                for name, inner in closed[key].items()
            }
            closed[key] = {name: inner for name, (inner, _) in pairs.items()}
            changed = changed or any(was_open for _, was_open in pairs.values())
    for key in COMBINERS:
        if is_list(closed.get(key)):
            found = [
                closed_schema(inner, depth + 1) if is_object(inner) else (inner, False)
                for inner in closed[key]
            ]
            closed[key] = [inner for inner, _ in found]
            changed = changed or any(was_open for _, was_open in found)
    return closed, changed


def merged_all(schema: Object, root: Object) -> Object:
    """A schema and all of its `allOf` as one: properties and demands add up."""
    branches = branches_of(schema, "allOf", root)
    base = {key: value for key, value in schema.items() if key != "allOf"}
    whole: Object = {}
    for branch in branches:
        whole.update({key: value for key, value in branch.items() if key not in COMBINERS})
    whole.update(base)
    return with_properties(whole, (base, *branches), [required_of(s) for s in (base, *branches)])


def merged_any(schema: Object, word: str) -> Object:
    """A schema and its alternatives as one: all properties, and the demands they share."""
    branches = branches_of(schema, word, schema)
    base = {key: value for key, value in schema.items() if key != word}
    shared = required_of(branches[0]) if branches else []
    for branch in branches:
        shared = [name for name in shared if name in required_of(branch)]
    return with_properties(base, (base, *branches), [required_of(base), shared])


def branches_of(schema: Object, word: str, root: Object) -> list[Object]:
    """The alternatives of a schema, each with its reference followed."""
    value = schema.get(word)
    found: list[Object] = []
    for branch in value if is_list(value) else ():
        if is_object(branch):
            reference = branch.get("$ref")
            target = resolved(root, reference) if isinstance(reference, str) else None
            found.append(branch if target is None else target)
    return found


def required_of(schema: Object) -> list[str]:
    """The properties a schema demands."""
    names = schema.get("required")
    return [name for name in names if isinstance(name, str)] if is_list(names) else []


def with_properties(
    schema: Object, sources: Iterable[Object], required: Iterable[list[str]]
) -> Object:
    """The schema with the properties of all sources and these demands."""
    properties: Object = {}
    for source in sources:
        fields = source.get("properties")
        for name, inner in fields.items() if is_object(fields) else ():
            known = properties.get(name, inner)
            properties[name] = inner if known == inner else {"anyOf": [known, inner]}
    whole = {**schema}
    if properties:
        whole["properties"] = properties
    names = list(dict.fromkeys(name for group in required for name in group))
    if names:
        whole["required"] = names
    return whole
