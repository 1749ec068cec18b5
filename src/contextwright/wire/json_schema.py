"""What JSON Schema 2020-12 says of its own keywords.

OpenAI and Anthropic refuse a request with a schema that breaks it, for example one of an older
draft: a list as `items`, `exclusiveMinimum: true`, `required: true` on a property.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from contextwright.errors import Level, Problem, shown
from contextwright.wire.values import Object, is_list, is_object

__all__ = [
    "HOLDING_LIST",
    "HOLDING_NAMED",
    "HOLDING_ONE",
    "TYPES",
    "VALUES",
    "answer_problems",
    "is_valid",
    "json_schema_problems",
    "lacks_items",
]

TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
HOLDING_ONE = frozenset(
    (
        "items additionalProperties contains not if then else propertyNames unevaluatedItems "
        "unevaluatedProperties contentSchema"
    ).split()
)
"""Keywords whose value is a schema."""
HOLDING_LIST = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
"""Keywords whose value is a list of schemas, which is not empty."""
HOLDING_NAMED = frozenset(
    ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
)
"""Keywords whose value is an object of schemas."""


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_size(value: Any) -> bool:
    return is_number(value) and value >= 0 and float.is_integer(value / 1)


def is_type(value: Any) -> bool:
    """Whether a value is the name of a type, or a list of different ones."""
    if isinstance(value, str):
        return value in TYPES
    return is_names(value) and bool(value) and all(name in TYPES for name in value)


def is_names(value: Any) -> bool:
    """Whether a value is a list of different strings."""
    strings = is_list(value) and all(isinstance(name, str) for name in value)
    return strings and len(set(value)) == len(value)


def are_names(value: Any) -> bool:
    return is_object(value) and all(map(is_names, value.values()))


SIZE, NUMBER = (is_size, "a whole number from 0"), (is_number, "a number")
TEXT: tuple[Callable[[Any], bool], str] = (lambda value: isinstance(value, str), "a string")
FLAG: tuple[Callable[[Any], bool], str] = (lambda value: isinstance(value, bool), "true or false")
LIST: tuple[Callable[[Any], bool], str] = (is_list, "a list")
VALUES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "type": (is_type, f"one or several of {', '.join(TYPES)}"),
    "required": (is_names, "a list of different names"),
    "dependentRequired": (are_names, "an object of lists of names"),
    "multipleOf": (lambda value: is_number(value) and value > 0, "a number above 0"),
    **dict.fromkeys("enum examples".split(), LIST),
    **dict.fromkeys("minimum maximum exclusiveMinimum exclusiveMaximum".split(), NUMBER),
    **dict.fromkeys("minLength maxLength minItems maxItems minContains maxContains".split(), SIZE),
    **dict.fromkeys("minProperties maxProperties".split(), SIZE),
    **dict.fromkeys("uniqueItems deprecated readOnly writeOnly".split(), FLAG),
    **dict.fromkeys("$ref $schema $id $anchor $comment title description".split(), TEXT),
    **dict.fromkeys("pattern format contentEncoding contentMediaType".split(), TEXT),
}
"""Keywords whose value holds no schema: what it must be, as a test and in words."""


def json_schema_problems(
    schema: Object, code: str, path: str, level: Level = "error", *, items: bool = False
) -> Iterator[Problem]:
    """List what is not valid in a schema, at any depth.

    With `items`, an array has to say what it holds: OpenAI refuses one that does not.
    """
    waiting: list[tuple[Any, str]] = [(schema, path)]
    while waiting:
        node, place = waiting.pop()
        if not is_object(node):
            if not isinstance(node, bool):
                yield Problem(code, place, f"a schema is an object, not {shown(node)}", level)
            continue
        for key, value in node.items():
            words = None
            if key in VALUES:  # most keywords, so it comes first
                fits, needed = VALUES[key]
                words = None if fits(value) else needed
            elif key in HOLDING_ONE:
                waiting.append((value, f"{place}.{key}"))
            elif key in HOLDING_NAMED:
                if is_object(value):
                    waiting += [(inner, f"{place}.{key}.{name}") for name, inner in value.items()]
                else:
                    words = "an object of schemas"
            elif key in HOLDING_LIST:
                if is_list(value) and value:
                    waiting += [(one, f"{place}.{key}[{at}]") for at, one in enumerate(value)]
                else:
                    words = "a list of schemas, not empty"
            if words:
                reason = f"must be {words}, not {shown(value)}"
                yield Problem(code, f"{place}.{key}", reason, level)
        if items and lacks_items(node):
            yield Problem(code, f"{place}.items", "an array needs items", level)


def answer_problems(form: Object, code: str, path: str, level: Level) -> Iterator[Problem]:
    """List what OpenAI refuses in the schema of an answer."""
    schema = form.get("schema")
    if is_object(schema):
        yield from json_schema_problems(schema, code, f"{path}.schema", level, items=True)


def lacks_items(schema: Object) -> bool:
    """Whether a schema allows arrays and has no `items`."""
    given = schema.get("type")
    arrays = given == "array" or (is_list(given) and "array" in given)
    return arrays and "items" not in schema


def is_valid(schema: Object, *, items: bool = False) -> bool:
    """Whether there is nothing to list."""
    return next(json_schema_problems(schema, "", "", items=items), None) is None
