"""The finished value: a payload, and the receipt for everything in it and left out of it."""

from __future__ import annotations

from typing import Any

import msgspec

from contextwright import formats
from contextwright.context.explain import explained
from contextwright.context.receipt import (
    Comparison,
    Receipt,
    extends_turn,
    parting,
    steps_of,
    unbroken_cause,
)
from contextwright.formats.api import render
from contextwright.formats.base import Rendered
from contextwright.messages.conversation import Conversation
from contextwright.models import Model, find
from contextwright.windows.log import Log
from contextwright.wire.values import is_object

__all__ = ["Context"]


class Context(Receipt, frozen=True, kw_only=True):
    """The finished request with its receipt."""

    payload: dict[str, Any]
    """The request body, for the provider's SDK."""
    conversation: Conversation
    """The rendered conversation: system text, the messages that stay, tools."""
    tool_names: dict[str, str] = {}
    """The renamed tools: the name sent → the tool's own name. Pass it to `restore_calls`."""

    def render(self, format: str, *, model: str | Model | None = None, **options: Any) -> Rendered:
        """Render the same context in another format, for its own model if the provider is the same.

        `options` are those of rendering. Nothing is counted or left out again.
        """
        default = formats.find(format).default_model
        if model is None and (default is None or find(default).provider == self.model.provider):
            model = self.model
        return render(self.conversation, format, model=model, **options)

    def compared_with(self, previous: Context) -> Comparison:
        """Return how much of the previous request is a prefix of this one, and why not more."""
        shared = 0
        byte = 0
        for mine, theirs in zip(self.prefix, previous.prefix, strict=False):
            if mine.chain != theirs.chain:
                break
            shared += 1
            byte += mine.size
        tokens = sum(unit.tokens for unit in self.prefix[:shared])
        total = self.ledger.tokens
        if shared == len(previous.prefix):
            is_longer = shared < len(self.prefix)
            cause = unbroken_cause(is_longer)
            return Comparison(tokens if is_longer else total, total, None, None, cause, 0.0)
        place = parting(self.prefix, previous.prefix, shared)
        prices = self.model.prices
        price = prices.input if prices.cache_write is None else prices.cache_write
        fresh = total - tokens
        return Comparison(
            tokens,
            total,
            place,
            byte,
            cause_of(place, self, previous),
            None if price is None else fresh * price / 1_000_000,
        )

    def explain(self) -> str:
        """Return the receipt as a table: decisions, reasons and tokens."""
        return "\n".join(text for _, text in explained(self))

    def receipt(self) -> dict[str, Any]:
        """Return the receipt as JSON. Messages are numbered from 1, as in a store (`seq`)."""
        return {
            "model": self.model.id,
            "format": self.format,
            "ledger": msgspec.to_builtins(self.ledger),
            "absent": self.absent,
            "decisions": [
                {
                    "seq": one.index + 1,
                    "action": one.action,
                    "reason": one.reason,
                    "tokens": one.tokens,
                }
                for one in self.decisions
            ],
            "changes": [msgspec.to_builtins(change) for change in self.changes],
            "prefix": [msgspec.to_builtins(unit) for unit in self.prefix],
        }


def cause_of(place: str, context: Context, previous: Context) -> str:
    """Return why two requests differ where they do."""
    if place == "tools":
        return "the tool list changed"
    changed = ", ".join(
        name for name, text in context.sections.items() if previous.sections.get(name) != text
    )
    is_top = place.startswith(("system", "instructions"))
    if is_top or any(is_system(place, one.payload) for one in (previous, context)):
        return f"the system text changed{f': {changed}' if changed else ''}"
    if context.decisions.omitted != previous.decisions.omitted:
        return "the window moved"
    if context.decisions.summarised != previous.decisions.summarised:
        return "the summary goes further"
    if context.decisions.cleared != previous.decisions.cleared:
        return "older results or media were cleared"
    edited = first_edited(context.decisions.view.log, previous.decisions.view.log)
    if edited is not None:
        return f"message {edited + 1} changed"
    if place == previous.prefix[-1].place:
        now, before = (dict(steps_of(one.payload)).get(place) for one in (context, previous))
        if extends_turn(now, before):
            return "the last turn went on"
    if changed:
        return f"volatile sections changed: {changed}"
    return "the same messages are sent in another way"


def first_edited(log: Log, previous: Log) -> int | None:
    """Return the index of the first edited message, among those that both have loaded."""
    if log is previous:
        return None
    common = range(max(log.start, previous.start), min(len(log), len(previous)))
    return next((index for index in common if log[index] != previous[index]), None)


def is_system(place: str, payload: dict[str, Any]) -> bool:
    """Whether a place of a payload is a system message, in formats without a field for it."""
    step = dict(steps_of(payload)).get(place)
    return is_object(step) and step.get("role") in ("system", "developer")
