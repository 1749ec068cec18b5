"""A static embedder: wordllama's table of 32,000 tokens, 256 numbers each (MIT licence).

The vector of a text is the mean of its tokens' vectors, which takes about 100 µs a message. The
package is installed for two of its files. It is never imported, because its loader looks for one of
them in the wrong folder and tries to download it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from contextwright.errors import MissingExtra
from contextwright.recall.vectors.embedder import Embedder

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

__all__ = ["wordllama"]

TABLE = Path("weights", "l2_supercat_256.safetensors")
VOCABULARY = Path("tokenizers", "l2_supercat_tokenizer_config.json")

BLOCK_TOKENS = 8_192
"""Tokens that are looked up at once, to limit the memory for long texts."""


def wordllama() -> Embedder:
    """Return the embedder; its files are read with the first text."""
    return Embedder("wordllama-256", embed, batch=256)


@cache
def load_model() -> tuple[Any, NDArray[numpy.float32]]:
    """Return the tokenizer and the table of vectors."""
    package = find_spec("wordllama")
    if package is None or package.origin is None:
        raise MissingExtra("the embedder wordllama", "vectors")
    folder = Path(package.origin).parent
    from safetensors import numpy as files
    from tokenizers import Tokenizer

    tables: dict[str, Any] = cast("Any", files).load_file(folder / TABLE)
    table = tables["embedding.weight"].astype("float32")
    return Tokenizer.from_file(str(folder / VOCABULARY)), table


def embed(texts: Sequence[str]) -> list[NDArray[numpy.float32]]:
    """Return the mean vector of the tokens of each text."""
    import numpy

    tokenizer, table = load_model()
    encoded: Any = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
    means: list[NDArray[numpy.float32]] = []
    for one in encoded:
        tokens = numpy.array(one.ids, dtype=numpy.int32)
        total = numpy.zeros(table.shape[1], dtype=numpy.float32)
        for start in range(0, len(tokens), BLOCK_TOKENS):
            total += table[tokens[start : start + BLOCK_TOKENS]].sum(axis=0)
        means.append(cast("Any", total / max(len(tokens), 1)))
    return means
