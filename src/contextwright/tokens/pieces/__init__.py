"""Requests taken apart into countable pieces."""

from contextwright.tokens.pieces.detection import body_format
from contextwright.tokens.pieces.piece import Kind, Piece
from contextwright.tokens.pieces.request import message_pieces, pieces

__all__ = ["Kind", "Piece", "body_format", "message_pieces", "pieces"]
