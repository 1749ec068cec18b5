"""Which settings of a request depend on whether, and how, the model reasons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contextwright.errors import Problem
from contextwright.models import Model
from contextwright.wire.values import is_list, is_object

__all__ = ["ENCRYPTED", "efforts", "sampling"]

ENCRYPTED = "reasoning.encrypted_content"
"""What a request includes to get reasoning that is not stored."""


def sampling(body: dict[str, Any], model: Model) -> Iterator[Problem]:
    """Settings that models refuse because they reason, because they do not, or because of age."""
    for name in ("temperature", "top_p", "top_logprobs") if not model.sampling else ():
        if body.get(name) is not None:
            message = f"{model.id} may refuse it unless its reasoning is off"
            yield Problem("OR-sampling", name, message, "warning")
    text = body.get("text")
    verbosity = text.get("verbosity") if is_object(text) else None
    if verbosity not in (None, "medium") and not model.verbosity:
        reason = f"{model.id} takes medium alone"
        yield Problem("OR-sampling", "text.verbosity", reason, "warning")
    reasoning = body.get("reasoning")
    if model.provider == "openai" and model.sampling and is_object(reasoning):
        if any(reasoning.values()):
            yield Problem("OR-sampling", "reasoning", f"{model.id} does not reason", "warning")
    include = body.get("include")
    if model.provider == "openai" and model.sampling and is_list(include) and ENCRYPTED in include:
        yield Problem("OR-sampling", "include", f"{model.id} does not reason", "warning")


def efforts(body: dict[str, Any], model: Model) -> Iterator[Problem]:
    """Not every model takes every effort."""
    reasoning = body.get("reasoning")
    effort = reasoning.get("effort") if is_object(reasoning) else None
    if isinstance(effort, str) and model.efforts and effort not in model.efforts:
        reason = f"{model.id} takes {', '.join(model.efforts)}"
        yield Problem("OR-effort", "reasoning.effort", reason, "warning")
