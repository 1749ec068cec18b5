"""Embedders: functions from texts to vectors, with a name.

Vectors are stored under the name, so another model needs another name. What the function returns is
checked and normalised to length 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from contextwright.errors import (
    ContextwrightError,
    EmbedderError,
    MissingExtra,
    UsageError,
    in_one_line,
    shown,
)

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[numpy.float32]

__all__ = ["Embedder", "Embedding"]

Embedding: TypeAlias = Callable[[Sequence[str]], Any]
"""A function that returns one vector for each text: an array, or anything numpy reads as one."""

MAX_NAME_BYTES = 256


class Embedder:
    """A function from texts to vectors, with the name that its vectors are stored under.

    Args:
        name: identifies the vectors, such as `wordllama-256`; another model needs another name.
        function: takes a list of texts, returns as many vectors, all of one dimension.
        batch: maximum number of texts in one call.
    """

    def __init__(self, name: str, function: Embedding, *, batch: int = 64) -> None:
        is_name = type(name) is str and name.isprintable()
        if not is_name or not 1 <= len(name.encode()) <= MAX_NAME_BYTES:
            hint = f"one printable line of 1 to {MAX_NAME_BYTES} bytes"
            raise UsageError(f"{shown(name)} is not a valid embedder name", hint=hint)
        if not callable(function):
            raise UsageError(f"{shown(function)} embeds nothing", hint="a function from texts")
        if type(batch) is not int or batch < 1:
            raise UsageError(f"an embedder takes at least one text at once, not {shown(batch)}")
        self.name, self.function, self.batch = name, function, batch
        self._dimension: int | None = None

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts, normalised to length 1; a zero vector stays zero.

        Raises:
            EmbedderError: the function failed.
            UsageError: it did not return one vector for each text.
        """
        numpy = load_numpy()
        rows = [
            self._checked([encodable(text) for text in texts[start : start + self.batch]])
            for start in range(0, len(texts), self.batch)
        ]
        return (
            numpy.concatenate(rows) if rows else numpy.zeros((0, self._dimension or 0), "float32")
        )

    def one(self, text: str) -> Vectors:
        """Return the vector of one text."""
        return self([text])[0]

    def _checked(self, texts: list[str]) -> Vectors:
        """Call the function, and return its vectors checked and normalised."""
        numpy = load_numpy()
        try:
            answer = self.function(texts)
        except ContextwrightError:
            raise
        except Exception as error:  # the function may raise anything
            hint = "to search by words only, use Store(…, embedder=None)"
            reason = f"the embedder {shown(self.name)} failed: {in_one_line(error)}"
            raise EmbedderError(reason, hint=hint) from error
        try:
            # Values that overflow become infinite, and are refused below.
            with numpy.errstate(over="ignore"):
                vectors = numpy.array(answer, dtype=numpy.float32)
        except (TypeError, ValueError, OverflowError):
            raise self._invalid("something other than rows of numbers") from None
        if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1]:
            raise self._invalid(f"an array of shape {vectors.shape} for {len(texts)} texts")
        width = self._dimension or vectors.shape[1]
        if vectors.shape[1] != width:
            raise self._invalid(f"vectors of {vectors.shape[1]} numbers, after {width} before")
        if not numpy.isfinite(vectors).all():
            raise self._invalid("numbers that are not finite")
        self._dimension = width  # only after the checks: a refused answer does not fix the width
        lengths = numpy.sqrt(numpy.einsum("ij,ij->i", vectors, vectors, dtype=numpy.float64))
        lengths[lengths == 0] = 1
        return (vectors / lengths[:, None]).astype(numpy.float32)

    def _invalid(self, answer: str) -> UsageError:
        """Return the error for an answer that is not one vector for each text."""
        hint = "a list of vectors, one for each text, all of one length"
        return UsageError(f"the embedder {shown(self.name)} gave {answer}", hint=hint)


def load_numpy() -> Any:
    """Return the module numpy, which is optional.

    Raises:
        MissingExtra: numpy is not installed.
    """
    try:
        import numpy
    except ImportError as error:
        raise MissingExtra("an embedder", "vectors") from error
    return numpy


def encodable(text: str) -> str:
    """Return the text with question marks for lone surrogates, so that it can be encoded."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
