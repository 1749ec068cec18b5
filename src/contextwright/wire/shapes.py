"""The type check of a payload, with the path of every problem.

The types of a wire format are msgspec structs that forbid unknown fields. One conversion at C speed
checks a whole payload; only if it fails does a slow walk list every problem with its path.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, cast

import msgspec
from msgspec import Struct, inspect

from contextwright.errors import Problem, shown
from contextwright.text.json import convert
from contextwright.wire.values import is_list, is_object

__all__ = [
    "EXTRA",
    "Shape",
    "json_problems",
    "objects_in",
    "shape_problems",
    "trimmed",
    "unknown_fields",
]

EXTRA = "T-extra"
"""The code of an unknown field."""

MOST_CHOICES = 12
"""How many allowed values a problem names."""

write_fast = msgspec.msgpack.Encoder(order="deterministic").encode
"""MessagePack with string keys: accepts only what JSON can hold, in a third of the time."""


class Shape(Struct, forbid_unknown_fields=True, gc=False):
    """Base of all wire types; undeclared fields are not allowed, and nothing refers back to one."""


def shape_problems(value: object, expected: Any, path: str = "") -> list[Problem]:
    """List every missing, unknown or wrongly typed field of `value`."""
    try:
        convert(value, expected)
    except msgspec.ValidationError:
        return list(_walk(_info(expected), value, path))
    except RecursionError:
        return [Problem("T-depth", path, "nested too deeply")]
    return []


def unknown_fields(problems: Iterable[Problem]) -> list[str]:
    """Return the paths of unknown fields if there are no other problems, else nothing."""
    found = list(problems)
    return [one.path for one in found] if all(one.code == EXTRA for one in found) else []


def trimmed(value: Any, paths: Collection[str], place: str = "") -> Any:
    """Return a value without the fields at some paths, as `shape_problems` writes them.

    `place` is the path of the value itself. Paths are compared, not taken apart, because the name
    of a field may hold dots and brackets.
    """
    if not any(path.startswith(place) for path in paths):
        return value
    if is_list(value):
        return [trimmed(item, paths, f"{place}[{index}]") for index, item in enumerate(value)]
    if not is_object(value):
        return value
    return {
        key: trimmed(item, paths, _join(place, key))
        for key, item in value.items()
        if _join(place, key) not in paths
    }


def json_problems(payload: object) -> list[Problem]:
    """List why a payload cannot be written as JSON, mostly a lone surrogate."""
    try:
        write_fast(payload)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return list(_unwritable(payload))
    return []


def _unwritable(payload: object) -> Iterator[Problem]:
    try:
        msgspec.json.encode(payload)
    except UnicodeEncodeError:
        for path in _broken_texts(payload, ""):
            yield Problem("X-surrogate", path, "text holds half of a surrogate pair")
    except RecursionError:
        yield Problem("T-depth", "", "nested too deeply")
    except (TypeError, ValueError) as error:
        yield Problem("T-type", "", f"not JSON: {error}")


def objects_in(value: object) -> list[tuple[int, dict[str, Any]]]:
    """Yield the objects of a list with their indexes; nothing if it is not a list."""
    # `isinstance` with a union type takes three times as long
    if not isinstance(value, (list, tuple)):
        return []
    items: list[Any] = value  # pyright: ignore
    return [(index, item) for index, item in enumerate(items) if isinstance(item, dict)]


def _broken_texts(value: object, path: str) -> Iterator[str]:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            yield path
    elif isinstance(value, Mapping):
        for key, item in cast("Mapping[str, object]", value).items():
            if isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                yield from _broken_texts(key, f"{path}.(key)")
            yield from _broken_texts(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(cast("list[object]", value)):
            yield from _broken_texts(item, f"{path}[{index}]")


@cache
def _info(expected: Any) -> inspect.Type:
    return inspect.type_info(expected)


_SCALARS: dict[type[inspect.Type], tuple[tuple[type, ...], str]] = {
    inspect.StrType: ((str,), "a string"),
    inspect.IntType: ((int,), "an integer"),
    inspect.FloatType: ((int, float), "a number"),
    inspect.BoolType: ((bool,), "true or false"),
    inspect.NoneType: ((type(None),), "null"),
}


def _walk(info: inspect.Type, value: Any, path: str) -> Iterator[Problem]:
    match info:
        case inspect.AnyType():
            return
        case inspect.StructType():
            yield from _walk_struct(info, value, path)
        case inspect.UnionType():
            yield from _walk_union(info, value, path)
        case inspect.ListType() | inspect.VarTupleType():
            if not isinstance(value, list | tuple):
                yield _mistyped(value, "a list", path)
                return
            for index, item in enumerate(cast("list[object]", value)):
                yield from _walk(info.item_type, item, f"{path}[{index}]")
        case inspect.DictType():
            if not isinstance(value, Mapping):
                yield _mistyped(value, "an object", path)
                return
            for key, item in cast("Mapping[str, object]", value).items():
                yield from _walk(info.value_type, item, _join(path, key))
        case inspect.LiteralType():
            if value not in info.values:
                yield _not_one_of(value, info.values, path)
        case _:
            types, name = _SCALARS[type(info)]
            if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
                yield _mistyped(value, name, path)


def _walk_struct(info: inspect.StructType, value: Any, path: str) -> Iterator[Problem]:
    if not isinstance(value, Mapping):
        yield _mistyped(value, "an object", path)
        return
    entries = cast("Mapping[str, object]", value)
    fields = {field.encode_name: field for field in info.fields}
    known = set(fields) if info.tag_field is None else {*fields, info.tag_field}
    for key in entries:
        if key not in known:
            yield Problem(EXTRA, _join(path, key), "unknown field")
    if info.tag_field is not None and entries.get(info.tag_field, info.tag) != info.tag:
        yield _not_one_of(entries[info.tag_field], (info.tag,), _join(path, info.tag_field))
    for name, field in fields.items():
        if name in entries:
            yield from _walk(field.type, entries[name], _join(path, name))
        elif field.required:
            yield Problem("T-required", _join(path, name), "required field is missing")


def _walk_union(info: inspect.UnionType, value: Any, path: str) -> Iterator[Problem]:
    """Follow the branch that the value most likely belongs to."""
    structs = [branch for branch in info.types if isinstance(branch, inspect.StructType)]
    if isinstance(value, Mapping) and structs:
        entries = cast("Mapping[str, object]", value)
        tag_field = structs[0].tag_field
        if tag_field is None or len(structs) == 1:
            yield from _walk_struct(structs[0], value, path)
        elif tag_field not in entries:
            yield Problem("T-required", _join(path, tag_field), "required field is missing")
        else:
            tags = {branch.tag: branch for branch in structs}
            tag = entries[tag_field]
            branch = tags.get(tag) if isinstance(tag, str) else None
            if branch is None:
                yield _not_one_of(tag, tuple(tags), _join(path, tag_field))
            else:
                yield from _walk_struct(branch, value, path)
        return
    faults = [list(_walk(branch, value, path)) for branch in info.types]
    if all(faults):
        # The branch that got deepest is the intended one.
        yield from max(faults, key=lambda found: max(len(problem.path) for problem in found))


def _join(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)


def _mistyped(value: object, wanted: str, path: str) -> Problem:
    return Problem("T-type", path, f"must be {wanted}, not {shown(value)}")


def _not_one_of(value: object, allowed: tuple[object, ...], path: str) -> Problem:
    choices = ", ".join(str(choice) for choice in allowed[:MOST_CHOICES])
    others = len(allowed) - MOST_CHOICES
    more = f" and {others} others" if others > 0 else ""
    return Problem("T-literal", path, f"{shown(value)} is not one of: {choices}{more}")
