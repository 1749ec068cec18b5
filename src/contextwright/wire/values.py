"""Type tests for JSON values."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeGuard

__all__ = ["Object", "is_list", "is_object"]

Object: TypeAlias = dict[str, Any]


def is_object(value: object) -> TypeGuard[Object]:
    """Whether a value is a JSON object."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether a value is a JSON list."""
    return isinstance(value, list)
