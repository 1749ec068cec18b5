"""Shell completion of formats, models, recipes and stored conversations."""

from __future__ import annotations

from itertools import islice
from typing import Any

__all__ = ["conversations", "formats", "models", "recipes"]

MAX_CONVERSATIONS = 1_000
"""Maximum number of stored conversations read for one completion."""


def formats(incomplete: str) -> list[str]:
    """Return the names of formats with this prefix."""
    from contextwright.formats import NAMES

    return [name for name in NAMES if name.startswith(incomplete)]


def models(incomplete: str) -> list[str]:
    """Return the names of known models with this prefix."""
    from contextwright.models import Models

    return [model.id for model in Models.shipped() if model.id.startswith(incomplete)]


def recipes(incomplete: str) -> list[str]:
    """Return the names of shipped recipes with this prefix."""
    from contextwright.context.recipe_files import SHIPPED

    return [name for name in SHIPPED if name.startswith(incomplete)]


def conversations(ctx: Any, incomplete: str) -> list[str]:
    """Return the ids of stored conversations with this prefix; none if the store cannot be read.

    A shell shows whatever is printed while it completes, so errors are not reported here.
    """
    from contextwright.cli.locations import is_kept, location_of
    from contextwright.errors import ContextwrightError
    from contextwright.store.store import Store

    try:
        location = location_of(ctx.params.get("store"))
        if not is_kept(location):
            return []  # only files are read, because a server may be slow
        with Store(location, tenant=ctx.params.get("tenant") or "", embedder=None) as store:
            found = islice(store.list(), MAX_CONVERSATIONS)
            return [info.id for info in found if info.id.startswith(incomplete)]
    except (ContextwrightError, OSError):
        return []
