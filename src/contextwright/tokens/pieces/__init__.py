"""Requests taken apart into countable pieces."""

from contextwright.tokens.pieces.detection import body_format
from contextwright.tokens.pieces.piece import Kind, Piece, Turn, numbered
from contextwright.tokens.pieces.request import message_pieces, outline, pieces

__all__ = [
    "Kind",
    "Piece",
    "Turn",
    "body_format",
    "message_pieces",
    "numbered",
    "outline",
    "pieces",
]
