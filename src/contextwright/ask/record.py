"""What one request of a question cost, as it stands beside the answer in the store."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from contextwright.context.context import Context
from contextwright.formats.replies.events import FinishReason, Usage
from contextwright.formats.replies.reply import ModelReply
from contextwright.messages.message import Message
from contextwright.messages.parts import Text, Thinking
from contextwright.models import Prices
from contextwright.text.json import convert
from contextwright.tokens.count import count_text

__all__ = ["StepRecord", "most_expensive", "price_of", "record_of"]

NAME = "ask"
"""Where it stands in the `meta` of a message."""
MILLION = 1_000_000


class StepRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request and its answer: who was asked, the tokens, the price, the time."""

    step: int
    """1 for the first request of a question."""
    model: str
    format: str
    finish: FinishReason
    usage: Usage
    estimated: bool = False
    """The provider sent no usage, because the answer broke off: these are our own counts."""
    price: float | None = None
    """US dollars; None if the model's prices are not known."""
    counted: int
    """The tokens of the request by our own count, before it was sent."""
    budget: int
    seconds: float
    """From sending the request to the end of the answer."""

    @property
    def cached(self) -> float:
        """The share of the input that came from the provider's cache, from 0 to 1."""
        return self.usage.cached / self.usage.input if self.usage.input else 0.0

    @classmethod
    def of(cls, step: int, context: Context, reply: ModelReply, seconds: float) -> StepRecord:
        """The record of a finished request."""
        ledger = context.ledger
        usage = reply.usage or Usage(
            input=ledger.tokens, output=count_text(written(reply.answer), context.model).tokens
        )
        return cls(
            step=step,
            model=context.model.id,
            format=context.format,
            finish=reply.finish or "other",
            usage=usage,
            estimated=reply.usage is None,
            price=price_of(usage, context.model.prices),
            counted=ledger.tokens,
            budget=ledger.budget,
            seconds=round(seconds, 3),
        )

    def beside(self, message: Message) -> Message:
        """The message with this record."""
        told: dict[str, Any] = msgspec.to_builtins(self)
        return msgspec.structs.replace(message, meta={**message.meta, NAME: told})


def written(message: Message) -> str:
    """Everything that a model wrote, as one text to count."""
    texts = [part.text for part in message.parts if isinstance(part, Text | Thinking)]
    return "\n".join([*texts, *(f"{call.name}{call.json}" for call in message.calls)])


def record_of(message: Message) -> StepRecord | None:
    """What a stored answer cost; None if it did not come from `ask`."""
    try:
        return convert(message.meta.get(NAME), StepRecord)
    except msgspec.ValidationError:
        return None


def price_of(usage: Usage, prices: Prices) -> float | None:
    """What an answer cost in US dollars; None if the prices are not known."""
    if prices.input is None or prices.output is None:
        return None
    read = prices.input if prices.cache_read is None else prices.cache_read
    write = prices.input if prices.cache_write is None else prices.cache_write
    fresh = max(usage.input - usage.cached - usage.written, 0)
    dollars = fresh * prices.input + usage.cached * read + usage.written * write
    return (dollars + usage.output * prices.output) / MILLION


def most_expensive(context: Context, answer: int) -> float | None:
    """The most a request can cost with an answer of so many tokens; None if it is not known."""
    prices = context.model.prices
    if prices.input is None or prices.output is None:
        return None
    dearest = max(prices.input, prices.cache_write or 0)
    return (context.ledger.most * dearest + answer * prices.output) / MILLION
