"""Schemas of older drafts, or with mistakes, as valid JSON Schema 2020-12."""

from __future__ import annotations

from typing import Any

from contextwright.errors import shown
from contextwright.formats.schemas.nodes import DEEPEST, without
from contextwright.messages.changes import Change
from contextwright.wire.json_schema import (
    HOLDING_LIST,
    HOLDING_NAMED,
    HOLDING_ONE,
    TYPES,
    VALUES,
    is_valid,
    lacks_items,
)
from contextwright.wire.values import Object, is_list, is_object

__all__ = ["valid_schema"]

SPELLED = {
    "str": "string",
    "int": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "bool": "boolean",
    "list": "array",
    "tuple": "array",
    "dict": "object",
    "none": "null",
} | {name: name for name in TYPES}
"""Types by the names that programming languages give them, in lower case."""
BOUNDS = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
"""Draft 4 says with `true` that the other bound is exclusive."""
MEANING_NULL = ("const", "default")


def valid_schema(
    schema: Object, path: str, changes: list[Change], *, items: bool = False
) -> Object:
    """Return a schema as JSON Schema 2020-12 allows it: itself, if it is valid.

    What older drafts spell otherwise is spelled as today, and what says nothing valid is left out.
    With `items`, arrays that do not say what they hold may hold anything, in words.
    """
    if is_valid(schema, items=items):
        return schema
    return Mender(changes, items=items).mend(schema, path)


class Mender:
    """One schema that is mended; reports each change with its path."""

    def __init__(self, changes: list[Change], *, items: bool) -> None:
        self.changes = changes
        self.items = items

    def repair(self, path: str, reason: str) -> None:
        self.changes.append(Change("repair.schema", path, reason))

    def lose(self, path: str, reason: str) -> None:
        self.changes.append(Change("loss.schema", path, reason))

    def mend(self, schema: Object, path: str, depth: int = 0) -> Object:
        """Return a schema with all schemas in it mended."""
        if depth > DEEPEST:
            return schema
        schema = self.respelled(schema, path)
        mended: Object = {}
        for key, value in schema.items():
            place = f"{path}.{key}"
            if value is None and key not in MEANING_NULL and is_keyword(key):
                self.repair(place, "null has no effect; left out")
            elif key in HOLDING_ONE:
                mended[key] = self.inner(value, place, depth)
            elif key in HOLDING_LIST and is_list(value) and value:
                mended[key] = [
                    self.inner(one, f"{place}[{index}]", depth) for index, one in enumerate(value)
                ]
            elif key in HOLDING_NAMED and is_object(value):
                mended[key] = {
                    name: self.inner(one, f"{place}.{name}", depth) for name, one in value.items()
                }
            elif key in VALUES and VALUES[key][0](value):
                mended[key] = value
            elif is_keyword(key):
                self.lose(place, f"not valid in JSON Schema 2020-12: {shown(value)}")
            else:
                mended[key] = value
        if self.items and lacks_items(mended):
            self.repair(f"{path}.items", "an array needs items; any are allowed")
            mended["items"] = {}
        return mended

    def inner(self, value: Any, path: str, depth: int) -> Any:
        """Return a schema inside another; one that is not a schema allows anything."""
        if is_object(value):
            return self.mend(value, path, depth + 1)
        if not isinstance(value, bool):
            self.lose(path, f"a schema is an object, not {shown(value)}")
            return {}
        return value

    def respelled(self, schema: Object, path: str) -> Object:
        """Return a schema with its own keywords as 2020-12 spells them."""
        if is_list(schema.get("items")):
            schema = self.with_prefix_items(schema, path)
        for exclusive, bound in BOUNDS.items():
            if isinstance(given := schema.get(exclusive), bool):
                self.repair(f"{path}.{exclusive}", "the bound itself, since draft 6")
                limit = {exclusive: schema[bound]} if given and bound in schema else {}
                schema = without(schema, exclusive, *([bound] if limit else [])) | limit
        schema = self.with_required(schema, path)
        if "type" in schema and not VALUES["type"][0](schema["type"]):
            schema = self.with_type(schema, path)
        if isinstance(examples := schema.get("examples"), str | int | float):
            self.repair(f"{path}.examples", "a list")
            schema = {**schema, "examples": [examples]}
        return schema

    def with_prefix_items(self, schema: Object, path: str) -> Object:
        """Write a tuple, a list of `items` up to draft 2019-09, as `prefixItems`."""
        self.repair(f"{path}.items", "a list of schemas is prefixItems since 2020-12")
        rest = without(schema, "items", "additionalItems")
        places = {"prefixItems": schema["items"]} if schema["items"] else {}
        more = {"items": schema["additionalItems"]} if "additionalItems" in schema else {}
        return {**rest, **places, **more}

    def with_required(self, schema: Object, path: str) -> Object:
        """Collect what draft 3 says on each property in the list of its object."""
        given = schema.get("required")
        if isinstance(given, bool):
            self.repair(f"{path}.required", "the list of its object says it since draft 4")
            schema = without(schema, "required")
        properties = schema.get("properties")
        marked = [
            name
            for name, one in (properties.items() if is_object(properties) else ())
            if is_object(one) and one.get("required") is True
        ]
        names = [name for name in given if isinstance(name, str)] if is_list(given) else []
        if marked or (is_list(given) and len(set(names)) < len(given)):
            if len(set(names)) < len(names):
                self.repair(f"{path}.required", "each name once")
            if is_list(given) and len(names) < len(given):
                self.lose(f"{path}.required", "a name is a string")
            schema = {**schema, "required": list(dict.fromkeys([*names, *marked]))}
        return schema

    def with_type(self, schema: Object, path: str) -> Object:
        """Spell the types as JSON Schema does; those it does not have allow anything."""
        given = schema["type"]
        names: list[Any] = given if is_list(given) else [given]
        known = [SPELLED.get(name.lower()) if isinstance(name, str) else None for name in names]
        if None in known or not known:
            if given is not None and given != "any":
                self.lose(f"{path}.type", f"JSON Schema has no type {shown(given)}")
            else:
                self.repair(f"{path}.type", "no type allows anything")
            return without(schema, "type")
        self.repair(f"{path}.type", f"spelled in JSON Schema's way: {shown(given)}")
        types = list(dict.fromkeys(known))
        return {**schema, "type": types if is_list(given) else types[0]}


def is_keyword(key: str) -> bool:
    """Whether JSON Schema says what the value of a keyword must be."""
    return key in VALUES or key in HOLDING_ONE or key in HOLDING_LIST or key in HOLDING_NAMED
