"""The cost of one request of a question, stored with its answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from contextwright.context.context import Context
from contextwright.errors import require
from contextwright.formats.replies.events import FinishReason, Usage
from contextwright.formats.replies.reply import ModelReply
from contextwright.messages.changes import Change
from contextwright.messages.message import Message
from contextwright.messages.parts import Text, Thinking
from contextwright.messages.validation import naming_faults_of
from contextwright.models import Model, Prices
from contextwright.text.json import convert
from contextwright.tokens.count import Calibration, count_text

__all__ = ["StepRecord", "beside", "calibration_of", "most_expensive", "price_of", "record_of"]

NAME = "ask"
"""Its key in the `meta` of a message."""
MILLION = 1_000_000


class StepRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One request and its answer: model, tokens, price, time."""

    step: int
    """The step of the question; 1 is its first request."""
    model: str
    format: str
    finish: FinishReason
    usage: Usage
    estimated: bool = False
    """Whether the counts are our own, because the answer was interrupted before its usage."""
    price: float | None = None
    """US dollars; None if the model's prices are unknown."""
    counted: int
    """The tokens of the request by our own count, before it was sent."""
    budget: int
    seconds: float
    """From sending the request to the end of the answer."""
    changes: tuple[Change, ...] = ()
    """Repairs of the answer, such as characters that cannot be stored."""

    @property
    def cached(self) -> float:
        """The share of the input that came from the provider's cache, from 0 to 1."""
        return self.usage.cached / self.usage.input if self.usage.input else 0.0

    @classmethod
    def of(
        cls,
        step: int,
        context: Context,
        reply: ModelReply,
        seconds: float,
        changes: Iterable[Change] = (),
    ) -> StepRecord:
        """Return the record of a finished request; `changes` are repairs besides the reply's."""
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
            changes=(*reply.changes, *changes),
        )

    def beside(self, message: Message) -> Message:
        """Return the message with this record."""
        return beside(message, msgspec.to_builtins(self))


def beside(message: Message, fields: dict[str, Any]) -> Message:
    """Return the message with what `ask` notes of it in its `meta`."""
    return msgspec.structs.replace(message, meta={**message.meta, NAME: fields})


def written(message: Message) -> str:
    """Return everything a model wrote as one text, for counting."""
    texts = [part.text for part in message.parts if isinstance(part, Text | Thinking)]
    return "\n".join([*texts, *(f"{call.name}{call.json}" for call in message.calls)])


def record_of(message: Message) -> StepRecord | None:
    """Return the record of a stored answer; None if it did not come from `ask`."""
    require(message, Message, "a message")
    try:
        return convert(message.meta.get(NAME), StepRecord)
    except msgspec.ValidationError:
        return None


def calibration_of(messages: Iterable[Message], model: Model, format: str) -> Calibration:
    """Return what the stored answers of a model show about our counts of its requests."""
    known = Calibration()
    for message in messages:
        record = record_of(message)
        if record and not record.estimated and (record.model, record.format) == (model.id, format):
            known = known.learn(round(record.counted * known.scale), record.usage.input)
    return known


def price_of(usage: Usage, prices: Prices) -> float | None:
    """Return the price of an answer in US dollars; None if prices are unknown."""
    require(usage, Usage, "usage")
    require(prices, Prices, "prices", "those of a Model")
    if prices.input is None or prices.output is None:
        return None
    with naming_faults_of(usage, prices):
        read = prices.input if prices.cache_read is None else prices.cache_read
        write = prices.input if prices.cache_write is None else prices.cache_write
        fresh = max(usage.input - usage.cached - usage.written, 0)
        dollars = fresh * prices.input + usage.cached * read + usage.written * write
        return (dollars + usage.output * prices.output) / MILLION


def most_expensive(context: Context) -> float | None:
    """Return the maximum price of a request and its answer; None if unknown."""
    prices, answer = context.model.prices, context.conversation.settings.max_tokens
    if prices.input is None or prices.output is None or answer is None:
        return None
    dearest = max(prices.input, prices.cache_write or 0)
    return (context.ledger.most * dearest + answer * prices.output) / MILLION
