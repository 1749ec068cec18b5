"""Prices in one request: what messages cost before it is made, and what it cost once it is."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

from contextwright.api import render
from contextwright.messages import Message, ToolResult
from contextwright.models import Model
from contextwright.tokens import Count, Pricer
from contextwright.wire.pieces import Piece, pieces

__all__ = ["Meter"]


class Meter:
    """Counts for one format and model; every text is tokenised once, however often it is sent."""

    def __init__(self, format: str, model: Model) -> None:
        self.format = format
        self.model = model
        self._pricer = Pricer(model, format, model.tokenizer)
        self._fixed: tuple[object, int] = (None, 0)

    def cost(self, message: Message) -> int:
        """What a message adds to a request, on the safe side of the tokenizer's own bound."""
        messages = told_apart(message)
        payload = render(messages, self.format, model=self.model, repair=False).payload
        places = self.count(payload).places
        tokens = sum(cost for place, cost in places.items() if place != "request")
        return ceil(tokens * (1 + self._pricer.doubt))

    def text(self, text: str) -> int:
        """The most a bare text can cost."""
        return self._pricer.count([Piece("text", "text", text)], None).most if text else 0

    def fixed(self, key: object, payload: Callable[[], Any]) -> int:
        """What a request without messages costs at most; counted anew only when `key` changes."""
        if self._fixed[0] != key:
            self._fixed = (key, self.count(payload()).most)
        return self._fixed[1]

    def count(self, payload: Any) -> Count:
        """The tokens of a whole request, by place."""
        return self._pricer.count(pieces(payload, self.format), None)


def told_apart(message: Message) -> list[Message]:
    """A message as the render rules will have it: results are never the assistant's own words."""
    results = message.results
    if not results or message.role == "tool" or len(results) == len(message.parts):
        return [message]
    words = [part for part in message.parts if type(part) is not ToolResult]
    return [message.with_parts(words), Message("tool", results)]
