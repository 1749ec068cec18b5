"""Proto JSON accepts several spellings of a body; this converts it to one.

Every field has a name in camelCase and one in snake_case, and an object may stand for a list of
one. Only fields that the types know are respelled; arguments, results and schemas stay unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, cast

from msgspec import inspect

from contextwright.errors import Problem
from contextwright.wire.shapes import Shape
from contextwright.wire.values import is_list, is_object

__all__ = ["as_spelled", "camel_case", "snake_case"]

Report = Callable[[Problem], None]


class Names:
    """The fields of one type: every spelling, with the camelCase one and the type below."""

    def __init__(self, fields: tuple[inspect.Field, ...]) -> None:
        self.fields: dict[str, tuple[str, Names | None]] = {}
        self.snake: dict[str, tuple[str, Names | None]] = {}
        self.lists: set[str] = set()
        """The fields that hold lists, in camelCase."""
        for field in fields:
            below = names_below(field.type)
            if holds_list(field.type):
                self.lists.add(field.encode_name)
            self.fields[field.encode_name] = (field.encode_name, below)
            self.fields[field.name] = (field.encode_name, below)
            self.snake[field.encode_name] = (field.name, below)


def camel_case(value: Any, shape: type[Shape]) -> tuple[Any, list[Problem]]:
    """Return the body with every known field in camelCase, and the fields it spells twice.

    If a field is spelled twice, the camelCase one stays. An object in place of a list becomes a
    list. Unchanged values are not copied.
    """
    problems: list[Problem] = []
    return respell(value, names_of(shape), "", problems.append), problems


def snake_case(value: Any, shape: type[Shape]) -> Any:
    """Return a camelCase body with every known field in snake_case."""
    return unspell(value, names_of(shape))


@cache
def names_of(shape: type[Shape]) -> Names:
    """Return the spellings of a type; computed once."""
    info = inspect.type_info(shape)
    return Names(cast("inspect.StructType", info).fields)


def names_below(info: inspect.Type) -> Names | None:
    """Return the spellings inside a field: of its type, of a list's items, of a union's struct."""
    match info:
        case inspect.StructType():
            return names_of(info.cls)  # pyright: ignore[reportArgumentType]
        case inspect.ListType():
            return names_below(info.item_type)
        case inspect.UnionType():
            return next(filter(None, map(names_below, info.types)), None)
        case _:
            return None


def holds_list(info: inspect.Type) -> bool:
    """Whether a field holds a list."""
    types = info.types if isinstance(info, inspect.UnionType) else (info,)
    return any(isinstance(one, inspect.ListType) for one in types)


def respell(value: Any, names: Names, path: str, report: Report) -> Any:
    """Respell an object or a list of objects; return it unchanged if nothing changes."""
    if is_list(value):
        # Objects only: no field holds lists of lists, and foreign data may nest them to any depth.
        found = [
            respell(item, names, f"{path}[{i}]", report) if is_object(item) else item
            for i, item in enumerate(value)
        ]
        same = all(new is old for new, old in zip(found, value, strict=True))
        return value if same else found
    if not is_object(value):
        return value
    same = True
    spelled: dict[str, Any] = {}
    for key, item in value.items():
        name, below = names.fields.get(key, (key, None))
        place = f"{path}.{key}" if path else str(key)
        if name != key and name in value:
            report(Problem("G-spelling", place, f"{key} and {name} are the same field"))
            same = False
            continue
        new = item
        if below is not None:
            alone = name in names.lists and is_object(item)
            new = respell([item] if alone else item, below, place, report)
        same = same and new is item and name == key
        spelled[name] = new
    return value if same else spelled


def unspell(value: Any, names: Names) -> Any:
    """Return an object or a list of objects in snake_case, always a copy."""
    if is_list(value):
        return [unspell(item, names) if is_object(item) else item for item in value]
    if not is_object(value):
        return value
    spelled: dict[str, Any] = {}
    for key, item in value.items():
        name, below = names.snake.get(key, (key, None))
        spelled[name] = item if below is None else unspell(item, below)
    return spelled


TOKEN = re.compile(r"\[(\d+)\]|\.?[^.\[]+|.", re.DOTALL)
CAPITAL = re.compile(r"[A-Z]")


def as_spelled(path: str, payload: Any) -> str:
    """Return a path into a camelCase body in the spelling that the payload itself uses."""
    found: list[str] = []
    here = payload
    for match in TOKEN.finditer(path):
        token = match[0]
        if match[1]:
            if is_object(here):  # alone in place of a list
                continue
            place = int(match[1])
            here = here[place] if is_list(here) and place < len(here) else None
        elif is_object(here):
            key = token.removeprefix(".")
            if key not in here:
                snake = CAPITAL.sub(lambda letter: "_" + letter[0].lower(), key)
                token = token.replace(key, snake) if snake in here else token
            here = here.get(token.removeprefix("."))
        found.append(token)
    return "".join(found)
