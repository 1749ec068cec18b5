"""Which settings of a request depend on whether the model reasons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contextwright.errors import Problem
from contextwright.models import Model
from contextwright.wire.values import is_object

__all__ = ["sampling"]


def sampling(body: dict[str, Any], model: Model) -> Iterator[Problem]:
    """Settings that models refuse because they reason, or because they do not."""
    for name in ("temperature", "top_p", "top_logprobs") if not model.sampling else ():
        if body.get(name) is not None:
            message = f"{model.id} may refuse it unless its reasoning is off"
            yield Problem("OR-sampling", name, message, "warning")
    reasoning = body.get("reasoning")
    if model.provider == "openai" and model.sampling and is_object(reasoning):
        if any(reasoning.values()):
            yield Problem("OR-sampling", "reasoning", f"{model.id} does not reason", "warning")
