"""The formats by name, each loaded when it is first asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from contextwright.errors import UnknownFormat

if TYPE_CHECKING:
    from contextwright.formats.base import Format

__all__ = ["NAMES", "FormatName", "find"]

FormatName: TypeAlias = Literal[
    "anthropic",
    "aya",
    "chatml",
    "contextwright",
    "forge",
    "gemini",
    "gryag",
    "openai-chat",
    "openai-responses",
    "port42",
]
"""The names of the formats, for editors that complete them."""
NAMES: tuple[str, ...] = get_args(FormatName)


def find(name: str) -> Format:
    """The format of that name.

    Raises:
        UnknownFormat: the name is none of `NAMES`.
    """
    if name not in NAMES:
        raise UnknownFormat(name, NAMES)
    return loaded(name)


@cache
def loaded(name: str) -> Format:
    """The format from its module."""
    return import_module(f"{__name__}.{name.replace('-', '_')}").FORMAT
