"""Checks the fields of values that people write in Python, as those of a file are checked."""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta, Struct

from contextwright.errors import UsageError, shown
from contextwright.text.json import convert

__all__ = ["Checked", "Fraction", "Natural", "require_fields"]

Natural: TypeAlias = Annotated[int, Meta(ge=0)]
Fraction: TypeAlias = Annotated[float, Meta(ge=0, le=1)]

PLACE = re.compile(r" - at `\$\.(\w+).*")
"""Where msgspec found a fault."""


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
        convert(msgspec.structs.asdict(value), bare(type(value)))
    except msgspec.ValidationError as error:
        place = PLACE.search(str(error))
        name = place[1] if place else ""
        hint = PLACE.sub("", str(error))
        given = shown(getattr(value, name, value))
        raise UsageError(f"{name or type(value).__name__} cannot be {given}", hint=hint) from error


@cache
def bare(kind: type[Struct]) -> type[Struct]:
    """Return a type with the same fields and nothing else: to make one checks nothing again."""
    fields = [(field.name, field.type) for field in msgspec.structs.fields(kind)]
    return msgspec.defstruct(kind.__name__, fields)
