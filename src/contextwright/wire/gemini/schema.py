"""Gemini's Schema proto: the part of OpenAPI that `parameters` and `responseSchema` understand.

Any other keyword of JSON Schema makes the API refuse the whole request ("Unknown name"); plain
JSON Schema goes into `parametersJsonSchema` and `responseJsonSchema`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from contextwright.errors import Problem, shown
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["KEYWORDS", "SPELLED", "TYPES", "root_problems", "schema_problems"]

TYPES = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")

KEYWORDS = frozenset(
    (
        "type format title description nullable enum items maxItems minItems properties required "
        "minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering "
        "default minimum maximum"
    ).split()
)
HOSTED = frozenset({"ref", "defs"})
"""Fields that only Google's enterprise host knows."""
CAPITAL = re.compile(r"[A-Z]")
SPELLED = {key: key for key in KEYWORDS} | {
    CAPITAL.sub(lambda letter: "_" + letter[0].lower(), key): key for key in KEYWORDS
}
"""Both spellings of every keyword."""

PARAMETER = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}").fullmatch


def schema_problems(schema: Any, path: str) -> Iterator[Problem]:
    """List what the proto has no field for, at any depth of a schema."""
    waiting: list[tuple[Any, str]] = [(schema, path)]
    while waiting:
        node, place = waiting.pop()
        if not is_object(node):
            if node is not None:
                yield Problem("G-schema", place, f"a schema must be an object, not {shown(node)}")
            continue
        fields: Object = {}
        for key, value in node.items():
            known = SPELLED.get(key)
            if known is None:
                level = "warning" if key in HOSTED else "error"
                yield Problem(
                    "G-schema", f"{place}.{key}", "the Schema proto has no such field", level
                )
            elif known != key and known in node:
                yield Problem(
                    "G-spelling", f"{place}.{key}", f"{key} and {known} are the same field"
                )
            else:
                fields[known] = value
        yield from node_problems(fields, place)
        waiting.extend(below(fields, place))


def root_problems(schema: Any, path: str) -> Iterator[Problem]:
    """The arguments of a function are an object; a reference may lead to one."""
    if not is_object(schema) or "$ref" in schema:
        return
    given = schema.get("type")
    if given is None:
        yield Problem("G-schema", f"{path}.type", "should be 'object'", "warning")
    elif isinstance(given, str) and given.lower() != "object":
        yield Problem("G-schema", f"{path}.type", "must be 'object'")


def node_problems(fields: Object, path: str) -> Iterator[Problem]:
    """Check the types of one schema's own fields."""
    type_ = fields.get("type")
    if type_ is not None and not (isinstance(type_, str) and type_.upper() in TYPES):
        reason = f"one of {', '.join(TYPES)}, not {shown(type_)}"
        yield Problem("G-schema", f"{path}.type", reason)
    for key in ("enum", "required"):
        values = fields.get(key)
        if values is not None and not all_texts(values):
            yield Problem("G-schema", f"{path}.{key}", "must be a list of strings")
    if isinstance(type_, str) and type_.upper() == "ARRAY" and fields.get("items") is None:
        yield Problem("G-schema", f"{path}.items", "an array needs items")
    properties = fields.get("properties")
    if properties is not None and not is_object(properties):
        yield Problem("G-schema", f"{path}.properties", "must be an object of schemas")
    elif properties is not None:
        for name in properties:
            if not PARAMETER(name):
                reason = "must start with a letter or _, then letters, digits or _; at most 64"
                yield Problem("G-schema", f"{path}.properties.{name}", reason, "warning")
    options = fields.get("anyOf")
    if options is not None and not is_list(options):
        yield Problem("G-schema", f"{path}.anyOf", "must be a list of schemas")


def all_texts(value: Any) -> bool:
    """Whether a value is a list of strings."""
    return is_list(value) and all(isinstance(item, str) for item in value)


def below(fields: Object, path: str) -> Iterator[tuple[Any, str]]:
    """Yield the schemas inside a schema."""
    if fields.get("items") is not None:
        yield fields["items"], f"{path}.items"
    properties = fields.get("properties")
    if is_object(properties):
        for name, schema in properties.items():
            yield schema, f"{path}.properties.{name}"
    options = fields.get("anyOf")
    if is_list(options):
        for index, schema in enumerate(options):
            yield schema, f"{path}.anyOf[{index}]"
