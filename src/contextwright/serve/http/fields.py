"""Types of parameters that several routes have."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from msgspec import Meta

__all__ = [
    "MAX_NUMBER",
    "Budget",
    "ConversationId",
    "Limit",
    "ModelName",
    "Now",
    "Seq",
    "RecipeName",
    "Words",
]

MAX_NUMBER = 2**53 - 1
"""The largest whole number that every reader of JSON takes as it is."""
MAX_PAGE = 200

ConversationId: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=256, description="Id of a conversation.")
]
Seq: TypeAlias = Annotated[
    int, Meta(ge=1, le=MAX_NUMBER, description="Number of a message, from 1.")
]
Limit: TypeAlias = Annotated[
    int, Meta(ge=1, le=MAX_PAGE, description="Maximum number of entries in a page.")
]
Budget: TypeAlias = Annotated[
    int, Meta(ge=1, le=MAX_NUMBER, description="Token budget of the whole request.")
]
RecipeName: TypeAlias = Annotated[
    str, Meta(max_length=256, description="Name of a recipe that comes with the package.")
]
ModelName: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=256, description="Name of a model, see `/models`.")
]
Now: TypeAlias = Annotated[
    str,
    Meta(
        max_length=64,
        description="Current time for sections (ISO 8601); that of the newest question by default.",
    ),
]
Words: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=4_096, description="Words to look for.")
]
