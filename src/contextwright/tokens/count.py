"""Counting: exact where a public tokenizer exists, within a stated bound elsewhere.

    count_text("Hello", "gpt-4o")                                   # 1 token (exact)
    count_pieces(outline(body, "anthropic"), "claude-sonnet-5-5")   # 812 tokens (±15 %)

Every price is a number in `data/rates.toml`, not a branch in the code. A request costs the sum of
its places.
"""

from __future__ import annotations

from collections.abc import Iterable

from contextwright.models import Model, find
from contextwright.tokens.estimate import Calibration, Count, Sum
from contextwright.tokens.pieces.piece import Piece, Turn
from contextwright.tokens.pricer import GUESSED, Pricer
from contextwright.tokens.rates import counter, text_counter

__all__ = ["Calibration", "Count", "Pricer", "count_pieces", "count_text", "counter"]


def count_text(text: str, model: Model | str, *, calibration: Calibration | None = None) -> Count:
    """Count the tokens of a bare text, with nothing around it."""
    model = find(model) if isinstance(model, str) else model
    counter = text_counter(model.tokenizer)
    doubt = max(counter.bound, GUESSED[model.matched]) + counter.doubt_beyond(text)
    tokens = counter.count(text)
    return Sum({"text": tokens}, doubt * tokens, certain=not doubt).count(calibration)


def count_pieces(
    pieces: Iterable[Piece | Turn],
    model: Model | str,
    *,
    format: str | None = None,
    tokenizer: str | None = None,
    calibration: Calibration | None = None,
) -> Count:
    """Count the tokens of a request, or of a part of one, taken apart by `tokens.pieces`.

    `format` is the API the pieces were taken from, if not the model's own; `tokenizer` names
    another tokenizer or estimator than the model's.
    """
    model = find(model) if isinstance(model, str) else model
    pricer = Pricer(model, format or model.format, tokenizer or model.tokenizer)
    return pricer.count(pieces, calibration)
