"""Schemas for OpenAI and Anthropic: a plain object at the root, and closed objects in answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from contextwright.formats.schemas.nodes import (
    COMBINERS,
    DEEPEST,
    Converted,
    is_recursive,
    resolved,
    rewritten,
    without,
)
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["UNHELD", "merged_all", "object_schema", "output_schema", "required_of"]


REFUSED = (*COMBINERS, "enum", "not")
"""Keywords that OpenAI refuses at the root of a tool's schema."""


def object_schema(schema: Object, refused: Collection[str] = REFUSED) -> Converted:
    """Return a schema with an object at its root, without the keywords that are refused there.

    A root that is only a reference is replaced by its target. Alternatives are merged into one
    object that allows the properties of each and requires those that all of them require.
    """
    lost = ["allOf"] if "allOf" in schema else []
    root = schema
    flattener = Flattener(root)
    schema = flattener.flat(schema)
    if "$ref" in schema or flattener.endless:
        lost.append("$ref")
        schema = without(schema, "$ref")
    for word in ("anyOf", "oneOf"):
        if word in schema:
            lost.append(word)
            schema = merged_any(schema, word, root)
    for word in ("enum", "not"):
        if word in schema and word in refused:
            lost.append(word)
            schema = without(schema, word)
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
    return Flattener(root).flat(schema)


class Flattener:
    """Merges references and `allOf` of schemas into them, for one root."""

    def __init__(self, root: Object) -> None:
        self.root = root
        self.targets: dict[str, Object] = {}
        """Flat targets of references: each is merged once, because they can double."""
        self.open: set[str] = set()
        self.endless = False
        """Whether a reference led to itself."""

    def flat(self, schema: Object, depth: int = 0) -> Object:
        """Return a schema without `allOf` and reference, but one that cannot be resolved."""
        reference = schema.get("$ref")
        target = self.target(reference, depth) if isinstance(reference, str) else None
        if depth > DEEPEST or (target is None and "allOf" not in schema):
            return schema
        base = without(schema, "allOf") if target is None else without(schema, "allOf", "$ref")
        branches = [] if target is None else [target]
        branches += [self.flat(one, depth + 1) for one in objects_of(schema.get("allOf"))]
        whole: Object = {}
        for branch in branches:
            whole.update(branch)
        whole.update(base)
        return with_properties(whole, (base, *branches), map(required_of, (base, *branches)))

    def target(self, reference: str, depth: int) -> Object | None:
        """Return what a reference points to, flat: nothing more where it leads to itself."""
        if reference in self.open:
            self.endless = True
            return {}
        if reference not in self.targets:
            target = resolved(self.root, reference)
            if target is None:
                return None
            self.open.add(reference)
            self.targets[reference] = self.flat(target, depth + 1)
            self.open.discard(reference)
        return self.targets[reference]


def objects_of(value: Any) -> list[Object]:
    """Return the objects of a list."""
    return [one for one in value if is_object(one)] if is_list(value) else []


def merged_any(schema: Object, word: str, root: Object) -> Object:
    """Merge a schema with its alternatives: all properties, and the requirements they share."""
    flattener = Flattener(root)
    branches = [flattener.flat(branch) for branch in objects_of(schema.get(word))]
    base = without(schema, word)
    shared = required_of(branches[0]) if branches else []
    for branch in branches:
        shared = [name for name in shared if name in required_of(branch)]
    return with_properties(base, (base, *branches), [required_of(base), shared])


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
