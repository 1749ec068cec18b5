"""Requests taken apart into countable pieces."""

from contextwright.wire.pieces.piece import Kind, Piece
from contextwright.wire.pieces.request import message_pieces, pieces

__all__ = ["Kind", "Piece", "message_pieces", "pieces"]
