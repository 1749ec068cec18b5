"""The vector of a question, centred on the mean of the vectors it is compared with."""

from __future__ import annotations

from typing import TypeAlias

import numpy
from numpy.typing import NDArray

__all__ = ["QUESTION_MEAN_SHARE", "PRIOR_COUNT", "REMARK_MEAN_SHARE", "CentredQuery", "Vectors"]

Vectors: TypeAlias = NDArray[numpy.float32]

PRIOR_COUNT = 20
"""Zero vectors that are added before the mean is taken, which shrinks the mean of a few vectors."""

REMARK_MEAN_SHARE, QUESTION_MEAN_SHARE = 1.0, 0.5
"""The share of the mean that is subtracted from a remark, and from a question, which has less in
common with the messages (`benchmarks/weights.py`).
"""

UNIT_NORM = numpy.ones(1, numpy.float32)
"""The length of every vector that is not centred."""


class CentredQuery:
    """The vector of a question, centred on the mean of the vectors it is compared with.

    Messages of one conversation have topic and tone in common, which does not help to choose among
    them. So their mean is subtracted from all of them, and a share of it from the question.

    Args:
        sum: the sum of their vectors; None compares without centring.
        count: the number of vectors.
        share: the share of the mean that is subtracted from the question.
    """

    def __init__(
        self,
        vector: Vectors,
        sum: Vectors | None = None,
        count: int = 0,
        share: float = REMARK_MEAN_SHARE,
    ) -> None:
        # The fewer messages there are, the less is subtracted, because their mean is less reliable.
        middle = numpy.zeros_like(vector) if sum is None else sum / (count + PRIOR_COUNT)
        away = vector - share * middle
        length = float(numpy.sqrt(away @ away)) or 1.0
        self.vector = vector
        self.mean: Vectors = middle.astype(numpy.float32)
        self.direction: Vectors = (away / length).astype(numpy.float32)
        self.offset = float(away @ middle) / length

    def centred_norms(self, rows: Vectors) -> Vectors:
        """Return the length of each centred row, for rows of length 1."""
        if not self.mean.any():
            return UNIT_NORM
        squares = 1 - 2 * (rows @ self.mean) + float(self.mean @ self.mean)
        return numpy.sqrt(numpy.maximum(squares, 1e-6)).astype(numpy.float32)

    def cosines(self, rows: Vectors, norms: Vectors) -> Vectors:
        """Return the cosine of each row and the question, both centred.

        Args:
            rows: vectors of length 1.
            norms: the `centred_norms` of the rows.
        """
        cosines = (rows @ self.direction - self.offset) / norms
        return numpy.clip(cosines, -1, 1).astype(numpy.float32)
