"""The choice of a store's embedder: a given one, the default one, or none."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal, TypeAlias

from contextwright.errors import MissingExtra, UsageError, shown
from contextwright.recall.vectors.embedder import Embedder
from contextwright.recall.vectors.wordllama import wordllama

__all__ = ["EmbedderChoice", "choose_embedder"]

EmbedderChoice: TypeAlias = Embedder | Literal["auto", "wordllama"] | None
"""An embedder, or the name of one: `auto` is wordllama if it is installed, else none."""

EXTRA = ("numpy", "tokenizers", "safetensors", "wordllama")
"""The packages that the default embedder needs."""


def choose_embedder(choice: EmbedderChoice) -> Embedder | None:
    """Return the chosen embedder; None for no vectors. Loads nothing.

    Raises:
        MissingExtra: the embedder is not installed.
        UsageError: there is no embedder with that name.
    """
    if isinstance(choice, Embedder) and find_spec("numpy") is None:
        raise MissingExtra("an embedder", "vectors")
    if choice is None or isinstance(choice, Embedder):
        return choice
    is_installed = all(find_spec(name) is not None for name in EXTRA)
    if choice == "auto" and not is_installed:
        return None
    if choice not in ("auto", "wordllama"):
        hint = "wordllama, auto, None, or an Embedder(name, function)"
        raise UsageError(f"{shown(choice)} is not a known embedder", hint=hint)
    if not is_installed:
        raise MissingExtra("the embedder wordllama", "vectors")
    return wordllama()
