"""Schemas for OpenAI and Anthropic: a plain object at the root, and closed objects in answers."""

from __future__ import annotations

from collections.abc import Iterable

from contextwright.formats.schemas.nodes import (
    COMBINERS,
    Converted,
    is_recursive,
    resolved,
    rewritten,
)
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["UNHELD", "merged_all", "object_schema", "output_schema", "required_of"]


def object_schema(schema: Object) -> Converted:
    """Return a schema with an object at its root, without alternatives.

    A root that is only a reference is replaced by its target. Alternatives are merged into one
    object that allows the properties of each and requires those that all of them require.
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
    for word in ("enum", "not"):
        if word in schema:
            lost.append(word)
            schema = {key: value for key, value in schema.items() if key != word}
    given = schema.get("type")
    if given == "object":
        return schema, lost
    if given is None or (is_list(given) and "object" in given):
        return {**schema, "type": "object"}, lost
    return {"type": "object"}, [*lost, "type"]


UNHELD = frozenset(
    (
        "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems "
        "uniqueItems minProperties maxProperties patternProperties propertyNames contains not if "
        "then else dependentRequired dependentSchemas unevaluatedProperties prefixItems"
    ).split()
)
"""Keywords that Anthropic refuses in an answer's schema."""
HELD_FORMATS = tuple("date-time time date duration email hostname uri ipv4 ipv6 uuid".split())


def output_schema(schema: Object) -> Converted | None:
    """Return an answer's schema as Anthropic accepts it; None if it is recursive.

    Every object is closed: it allows only its own properties.
    """
    if is_recursive(schema, schema):
        return None
    lost: list[str] = []

    def held(node: Object) -> Object:
        kept: Object = {}
        for key, value in node.items():
            if (
                key in UNHELD
                or (key == "minItems" and value not in (0, 1))
                or (key == "format" and value not in HELD_FORMATS)
            ):
                lost.append(key)
            elif key == "oneOf":
                lost.append(key)
                kept["anyOf"] = value
            else:
                kept[key] = value
        given = kept.get("type")
        if given == "object" or (is_list(given) and "object" in given):
            if kept.get("additionalProperties") is not False:
                lost.append("additionalProperties")
            kept["additionalProperties"] = False
        return kept

    return rewritten(schema, held), list(dict.fromkeys(lost))


def merged_all(schema: Object, root: Object) -> Object:
    """Merge a schema with its `allOf`: properties and requirements add up."""
    branches = branches_of(schema, "allOf", root)
    base = {key: value for key, value in schema.items() if key != "allOf"}
    whole: Object = {}
    for branch in branches:
        whole.update({key: value for key, value in branch.items() if key not in COMBINERS})
    whole.update(base)
    return with_properties(whole, (base, *branches), [required_of(s) for s in (base, *branches)])


def merged_any(schema: Object, word: str) -> Object:
    """Merge a schema with its alternatives: all properties, and the requirements they share."""
    branches = branches_of(schema, word, schema)
    base = {key: value for key, value in schema.items() if key != word}
    shared = required_of(branches[0]) if branches else []
    for branch in branches:
        shared = [name for name in shared if name in required_of(branch)]
    return with_properties(base, (base, *branches), [required_of(base), shared])


def branches_of(schema: Object, word: str, root: Object) -> list[Object]:
    """Return the alternatives of a schema with their references resolved."""
    value = schema.get(word)
    found: list[Object] = []
    for branch in value if is_list(value) else ():
        if is_object(branch):
            reference = branch.get("$ref")
            target = resolved(root, reference) if isinstance(reference, str) else None
            found.append(branch if target is None else target)
    return found


def required_of(schema: Object) -> list[str]:
    """Return the required properties of a schema."""
    names = schema.get("required")
    return [name for name in names if isinstance(name, str)] if is_list(names) else []


def with_properties(
    schema: Object, sources: Iterable[Object], required: Iterable[list[str]]
) -> Object:
    """Return the schema with the properties of all sources and these requirements."""
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
