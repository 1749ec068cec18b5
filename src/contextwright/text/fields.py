"""Checks the fields of values that people write in Python, as those of a file are checked."""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Any, TypeAlias, cast

import msgspec
from msgspec import Meta, Struct

from contextwright.errors import UsageError, shown
from contextwright.text.json import convert

__all__ = ["LARGEST", "Checked", "Fraction", "Natural", "require_struct"]

LARGEST = 10**12
"""A limit of numbers of tokens, messages or seconds, which are multiplied with floats."""
Natural: TypeAlias = Annotated[int, Meta(ge=0, le=LARGEST)]
Fraction: TypeAlias = Annotated[float, Meta(ge=0, le=1)]

PLACE = re.compile(r" - at `\$\.(\w+).*")
"""Matches the place of a fault in msgspec's errors."""


class Checked(Struct, frozen=True):
    """A value whose fields are checked when it is made."""

    def __post_init__(self) -> None:
        require_fields(self)


def require_fields(value: Struct) -> None:
    """Raise for a field of the wrong type.

    Raises:
        UsageError: it names the field, its value, and what was expected.
    """
    try:
        require_struct(value, convert(msgspec.structs.asdict(value), bare(type(value))))
    except msgspec.ValidationError as error:
        place = PLACE.search(str(error))
        name = place[1] if place else ""
        hint = PLACE.sub("", str(error))
        given = shown(getattr(value, name, value))
        raise UsageError(f"{name or type(value).__name__} cannot be {given}", hint=hint) from error


def require_struct(given: Any, read: Any, path: str = "$") -> None:
    """Raise where a plain object stands for a value of ours, or the other way round.

    msgspec would read the one from the other.

    Args:
        given: A value.
        read: What msgspec read from it.
        path: Where the value is, as msgspec writes it.

    Raises:
        msgspec.ValidationError: it names the place.
    """
    if given is read:
        return
    if isinstance(read, Struct) is not isinstance(given, Struct):
        expected, found = type(read).__name__, type(given).__name__
        raise msgspec.ValidationError(f"Expected `{expected}`, got `{found}` - at `{path}`")
    if isinstance(read, Struct):
        for name in read.__struct_fields__:
            item, made = getattr(given, name), getattr(read, name)
            if item is not made:  # nearly all are the same, and a call would take longer
                require_struct(item, made, f"{path}.{name}")
    elif isinstance(read, list | tuple):
        pairs = zip(cast("list[Any]", given), cast("list[Any]", read), strict=True)
        for index, (item, made) in enumerate(pairs):
            require_struct(item, made, f"{path}[{index}]")


@cache
def bare(kind: type[Struct]) -> type[Struct]:
    """Return a type with the same fields and nothing else: to make one checks nothing again."""
    fields = [(field.name, field.type) for field in msgspec.structs.fields(kind)]
    return msgspec.defstruct(kind.__name__, fields)
