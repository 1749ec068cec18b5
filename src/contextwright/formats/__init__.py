"""The formats by name. Each is imported on first use, to keep `import contextwright` fast."""

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
"""The names of all formats, as a type for editors to complete."""
NAMES: tuple[str, ...] = get_args(FormatName)


def find(name: str) -> Format:
    """Return the format with this name.

    Raises:
        UnknownFormat: the name is not in `NAMES`.
    """
    if name not in NAMES:
        raise UnknownFormat(name, NAMES)
    return loaded(name)


@cache
def loaded(name: str) -> Format:
    """Import the format's module, or the one in its folder, and return its `FORMAT`."""
    module = import_module(f"{__name__}.{name.replace('-', '_')}")
    if hasattr(module, "__path__"):
        module = import_module(f"{module.__name__}.format")
    return module.FORMAT
