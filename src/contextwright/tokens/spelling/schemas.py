"""JSON schemas as every spelling reads them: `$ref` resolved, size and depth limited."""

from __future__ import annotations

from typing import Any

from contextwright.tokens.pieces.piece import Fields, fields

__all__ = ["Definitions"]

MAX_DEPTH = 12
MAX_SCHEMAS = 5_000


class Definitions:
    """The named schemas of one tool, which `$ref` points to.

    A schema may refer to itself: `enter` counts what is read and ends deep or large ones.
    """

    def __init__(self, schema: Fields) -> None:
        self.named = {**fields(schema.get("definitions")), **fields(schema.get("$defs"))}
        self.left = MAX_SCHEMAS

    def enter(self, depth: int) -> bool:
        """Return whether one more schema may be read at this depth."""
        self.left -= 1
        return depth <= MAX_DEPTH and self.left >= 0

    def resolve(self, schema: Any) -> Fields:
        """Return the schema, or the one it refers to with the fields next to the `$ref`."""
        found = fields(schema)
        reference = found.get("$ref")
        if not isinstance(reference, str):
            return found
        beside = {name: value for name, value in found.items() if name != "$ref"}
        return {**fields(self.named.get(reference.rsplit("/", 1)[-1])), **beside}
