"""The formats by name, each loaded when it is first asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from contextwright.errors import UnknownFormat

if TYPE_CHECKING:
    from contextwright.formats.base import Format

__all__ = ["NAMES", "find"]

NAMES = (
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
)


@cache
def find(name: str) -> Format:
    """The format of that name.

    Raises:
        UnknownFormat: the name is none of `NAMES`.
    """
    if name not in NAMES:
        raise UnknownFormat(name, NAMES)
    return import_module(f"{__name__}.{name.replace('-', '_')}").FORMAT
