"""The vector of a question, seen from the mean of what it is compared with."""

from __future__ import annotations

from typing import TypeAlias

import numpy
from numpy.typing import NDArray

__all__ = ["ASKED", "FEW", "SAID", "Query", "Vectors"]

Vectors: TypeAlias = NDArray[numpy.float32]

FEW = 20
"""Weight, in vectors, that pulls the mean of a few vectors towards zero."""

SAID, ASKED = 1.0, 0.5
"""The share of the mean that is subtracted from what is said, as messages are, and from what is
asked: a question has less in common with them (`benchmarks/weights.py`).
"""

ONE = numpy.ones(1, numpy.float32)
"""The distance of every vector from zero."""


class Query:
    """The vector of a question, relative to the mean of those it is compared with.

    Messages of one conversation have topic and tone in common, which does not help to choose among
    them. So the mean is subtracted from all of them, and a share of it from the question.
    """

    def __init__(
        self, vector: Vectors, sum: Vectors | None = None, count: int = 0, share: float = SAID
    ) -> None:
        # A few messages have no reliable mean: the fewer there are, the less is subtracted.
        middle = numpy.zeros_like(vector) if sum is None else sum / (count + FEW)
        away = vector - share * middle
        length = float(numpy.sqrt(away @ away)) or 1.0
        self.vector = vector
        self.middle: Vectors = middle.astype(numpy.float32)
        self.direction: Vectors = (away / length).astype(numpy.float32)
        self.offset = float(away @ middle) / length

    def lengths(self, rows: Vectors) -> Vectors:
        """Return the distance of each row of length 1 from the mean; 1 from zero."""
        if not self.middle.any():
            return ONE
        squares = 1 - 2 * (rows @ self.middle) + float(self.middle @ self.middle)
        return numpy.sqrt(numpy.maximum(squares, 1e-6)).astype(numpy.float32)

    def cosines(self, rows: Vectors, lengths: Vectors) -> Vectors:
        """Return the cosine of each row of length 1, both relative to the mean."""
        cosines = (rows @ self.direction - self.offset) / lengths
        return numpy.clip(cosines, -1, 1).astype(numpy.float32)
