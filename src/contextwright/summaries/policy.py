"""How summaries are made: excerpts without a model, or text that a model writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

from contextwright.errors import UsageError, shown
from contextwright.summaries.summary import DIGEST
from contextwright.text.fields import Checked
from contextwright.text.json import UNFIT

__all__ = ["Request", "Summariser", "SummaryPolicy"]

CHARS_PER_TOKEN = 4
"""Characters per token in English. In other languages a digest is shortened until it fits."""


class Request(Struct, frozen=True):
    """A request to a summariser: instructions, and the text they are about."""

    instructions: str
    text: str
    tokens: int
    """Maximum tokens of the summary; a longer one is cut after a sentence."""
    model: str | None = None
    """The model that the recipe names."""

    @property
    def prompt(self) -> str:
        """Instructions and text as one string, for programs that take a single input."""
        return f"{self.instructions}\n\n{self.text}"


Summariser: TypeAlias = Callable[[Request], str]
"""A function that writes summaries. If it raises, the request is built without a summary."""


class SummaryPolicy(Checked, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How messages outside the window are summarised; plain data except for `summariser`."""

    tokens: Annotated[int, Meta(ge=1)] = 400
    """Maximum tokens; in small requests at most a quarter of the room for messages."""
    model: str | None = None
    """The model that writes it. Without a model and a `summariser`, it consists of excerpts."""
    summariser: Summariser | None = None
    background: bool = False
    """Whether a store's chat writes it in the background, so that no request waits for it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        # The name of the model is part of a key in the store, on every engine.
        if self.model is not None and UNFIT.search(self.model):
            hint = "a name without NUL and without half a surrogate pair"
            raise UsageError(f"{shown(self.model)} is not a valid model name", hint=hint)

    @property
    def method(self) -> str:
        """The method in one word."""
        return self.model or (DIGEST if self.is_digest else "a program")

    @property
    def is_digest(self) -> bool:
        """Whether the summary consists of excerpts."""
        return self.model is None and self.summariser is None

    @property
    def name(self) -> str:
        """The name of stored summaries: all that they depend on besides the messages."""
        return f"{self.method} {self.tokens}"

    @property
    def longest(self) -> int:
        """Maximum characters of a digest."""
        return self.tokens * CHARS_PER_TOKEN
