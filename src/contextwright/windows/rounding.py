"""Round numbers: where a cut stays put while a history grows."""

from __future__ import annotations

__all__ = ["roundest"]


def roundest(after: int, upto: int) -> int:
    """Return the number after one and up to another that the highest power of two divides.

    Between two numbers of one roundness is a rounder one, so there is one. A range that only moves
    on keeps it until it has passed, or a rounder one is reached.
    """
    rank = (after ^ upto).bit_length() - 1
    return upto >> rank << rank
