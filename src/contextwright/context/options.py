"""The options of a build, listed once for everything that passes them on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Required, TypedDict

from contextwright.formats import FormatName
from contextwright.messages.message import Tool
from contextwright.messages.parts import Opaque
from contextwright.models import Model
from contextwright.recall.memories import MemorySource

__all__ = ["BuildOptions"]


class BuildOptions(TypedDict, total=False):
    """The options of a build besides its conversation and recipe."""

    model: Required[str | Model]
    """The model that the request is for."""
    format: FormatName | str | None
    """The format of the payload; the model's own by default."""
    tools: Sequence[Tool | Opaque | Mapping[str, Any]] | None
    """Tools to use instead of the conversation's own."""
    now: datetime | None
    """The time that sections show."""
    budget: int | None
    """Tokens of the whole request; by default the recipe's, else the model's input limit."""
    memories: MemorySource | None
    """The source that sections recall from."""
