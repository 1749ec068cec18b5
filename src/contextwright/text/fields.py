"""Checks the fields of values that people write, and says which of them is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, TypeGuard, Union, cast, get_args, get_origin

import msgspec
from msgspec import Meta, Struct

from contextwright.errors import UsageError, shortened, shown
from contextwright.text.json import convert

__all__ = ["LARGEST", "Checked", "Fraction", "Natural", "require_struct", "wrong_value"]

LARGEST = 10**12
"""A limit of numbers of tokens, messages or seconds, which are multiplied with floats."""
Natural: TypeAlias = Annotated[int, Meta(ge=0, le=LARGEST)]
Fraction: TypeAlias = Annotated[float, Meta(ge=0, le=1)]

PLACE = " - at `$"
"""What comes before the place of a fault in msgspec's errors."""
STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
FIELD = re.compile("Object (?:(contains unknown)|missing required) field `(.*)`")
BOUND = re.compile(r"Expected `\w+` (>=|<=) (.+)")
MORE = re.compile(r"Expected `\w+` ((?:matching|of) .+)")
"""Matches a condition besides the type: a pattern, a length."""
WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


class Checked(Struct, frozen=True):
    """A value whose fields are checked when it is made."""

    def __post_init__(self) -> None:
        require_fields(self)


def require_fields(value: Struct) -> None:
    """Raise for a field of the wrong type.

    Raises:
        UsageError: it names the field, its value, and what was expected.
    """
    kind = type(value)
    try:
        require_struct(value, convert(msgspec.structs.asdict(value), bare(kind)))
    except msgspec.ValidationError as error:
        raise wrong_value(value, kind, error) from error


def wrong_value(
    given: object, kind: Any, error: msgspec.ValidationError, path: str = ""
) -> UsageError:
    """Return the error for a value that msgspec refuses: its path, the value, what may be there.

    Args:
        given: what was to be read: one of our values, or decoded JSON.
        kind: the type that it was to be read as.
        path: the place of `given`, as the error is to name it.
    """
    reason, _, place = str(error).rpartition(PLACE)
    if not reason:
        reason, place = place, ""
    place = place.removesuffix("`")
    in_python = isinstance(given, Struct)
    name = f"{path}{place}".lstrip(".") or (type(given).__name__ if in_python else "the document")
    try:
        value, kinds = found_at(given, kind, place)
    except LookupError:
        value, kinds = None, []
    if not kinds or not reason.startswith(("Expected", "Invalid", "Object")):
        return UsageError(f"{shortened(name)}: {shortened(reason[:1].lower() + reason[1:])}")
    if wrong := FIELD.fullmatch(reason):
        known = [field for one in kinds for field in fields_of(one, value)]
        needed = [inner for one in kinds for inner in inside(one, wrong[2], value)]
        fault = "has no field" if wrong[1] else "lacks the field"
        hint = ", ".join(known) if wrong[1] else described(needed, in_python=in_python)
        return UsageError(f"{name} {fault} {shown(wrong[2])}", hint=hint and f"known: {hint}")
    if bound := BOUND.fullmatch(reason):
        hint = f"at {'least' if bound[1] == '>=' else 'most'} {float(bound[2]):,.16g}"
    else:
        hint = described(kinds, in_python=in_python)
        if more := MORE.fullmatch(reason):
            hint = f"{hint} {more[1]}"
    return UsageError(f"{name} cannot be {shown(value)}", hint=hint)


def found_at(given: object, kind: Any, place: str) -> tuple[Any, list[Any]]:
    """Return the value at a place, and the types that it may have there.

    Raises:
        LookupError: the place is not known, because it is within an object of any keys.
    """
    value, kinds = given, [*members(kind)]
    for field, index in STEP.findall(place):
        step: Any = int(index) if index else field
        kinds = [inner for one in kinds for inner in inside(one, step, value)]
        value = getattr(value, field, None) if isinstance(value, Struct) else held(value, step)
    if STEP.sub("", place):
        raise LookupError(place)
    return value, kinds


def held(value: Any, step: str | int) -> Any:
    """Return what an object or a list holds."""
    if not isinstance(value, dict if isinstance(step, str) else (list, tuple)):
        raise LookupError(step)
    return cast("Any", value)[step]


def members(kind: Any) -> Iterator[Any]:
    """Yield the types of which a value of this type may be one."""
    origin = get_origin(kind)
    if origin is Annotated:
        yield from members(get_args(kind)[0])
    elif origin in (Union, UnionType):
        for one in get_args(kind):
            yield from members(one)
    else:
        yield kind


def inside(kind: Any, step: str | int, value: Any) -> Iterator[Any]:
    """Yield the types of a field or of an item of a value."""
    plain = get_origin(kind)
    if plain is dict:
        yield from members(get_args(kind)[1])
    elif plain in (list, tuple):
        yield from members(get_args(kind)[0])
    elif is_struct(kind):
        if kind.__struct_config__.tag_field == step:
            yield Literal[kind.__struct_config__.tag]
        elif is_of(value, kind):
            for field in msgspec.structs.fields(kind):
                if field.encode_name == step:
                    yield from members(field.type)


def fields_of(kind: Any, value: Any) -> Iterator[str]:
    """Yield the names of the fields that a value has as one of our types."""
    if is_struct(kind) and is_of(value, kind):
        yield from kind.__struct_encode_fields__


def is_struct(kind: Any) -> TypeGuard[type[Struct]]:
    """Whether a type is one of ours."""
    return isinstance(kind, type) and issubclass(kind, Struct)


def is_of(value: Any, kind: type[Struct]) -> bool:
    """Whether a value is meant as one of our types: it is one, or names no other."""
    if isinstance(value, Struct):
        return isinstance(value, kind)
    config = kind.__struct_config__
    if not isinstance(value, dict) or config.tag_field is None:
        return True
    return cast("dict[str, Any]", value).get(config.tag_field) == config.tag


def described(kinds: Iterable[Any], *, in_python: bool) -> str:
    """Return types in words: what may replace a wrong value."""
    words = dict.fromkeys(word for kind in kinds for word in words_for(kind, in_python))
    if WORDS[float] in words:
        words.pop(WORDS[int], None)
    *others, last = [*words] or [""]
    return f"{', '.join(others)} or {last}" if others else last


def words_for(kind: Any, in_python: bool) -> Iterator[str]:
    """Yield a type in words, or each of its values; None needs none."""
    plain = get_origin(kind) or kind
    if plain is Literal:
        yield from map(str, get_args(kind))
    elif plain in WORDS:
        yield WORDS[plain]
    elif plain in (list, tuple):
        items = described(members(get_args(kind)[0]), in_python=in_python)
        yield f"a list of {items}" if "(" in items else "a list"
    elif plain is Callable:
        yield "a function"
    elif plain is not NoneType:
        yield f"{plain.__name__}(…)" if in_python and is_struct(plain) else "an object"


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
