"""The output limit of a request: at least what an API takes, at most what a model can write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contextwright.errors import Problem
from contextwright.models import Model

__all__ = ["limit_problems", "nearest_limit"]


def nearest_limit(limit: Any, model: Model, *, least: int) -> Any:
    """Return the limit, or the nearest one that is accepted; what is no number stays as it is.

    Only the facts of this very model count: another one of its family may write more.
    """
    if type(limit) is not int:
        return limit
    most = model.max_output
    if most is not None and limit > most and model.matched == "exact" and not model.through_host:
        limit = most
    return max(limit, least)


def limit_problems(
    code: str, limit: Any, path: str, model: Model, *, least: int
) -> Iterator[Problem]:
    """A limit below the least, or above the most."""
    nearest = nearest_limit(limit, model, least=least)
    if nearest != limit:
        most = f"{model.id} writes at most {nearest:,}"
        yield Problem(code, path, f"at least {least}" if limit < nearest else most)
