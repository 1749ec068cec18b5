"""Events while a question is answered: those of the replies, and those around them."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from contextwright.ask.record import StepRecord
from contextwright.formats.replies.events import Event, FinishReason, ReplyError, Usage
from contextwright.messages.message import Message
from contextwright.messages.parts import ToolCall, ToolResult

__all__ = ["AskEvent", "Answer", "StepEnd", "StepStart", "Stop", "ToolEnd"]

Stop: TypeAlias = Literal["max_steps", "max_price"]
"""Limits of the caller that end a question without an answer."""


class StepStart(Struct, frozen=True, tag="step_start"):
    """A request is built and about to be sent."""

    step: int
    model: str
    tokens: int
    """Tokens of the request, by our own count."""


class StepEnd(Struct, frozen=True, tag="step_end"):
    """The model's message is stored."""

    record: StepRecord
    seqs: tuple[int, ...]
    """The numbers of the stored messages."""


class ToolEnd(Struct, frozen=True, tag="tool_end"):
    """A function has returned, failed, or run out of time."""

    call: ToolCall
    result: ToolResult


class Answer(Struct, frozen=True, kw_only=True, tag="answer"):
    """How a question ended: the last event, and the return value of `ask`."""

    key: str
    """A question asked again with the same key continues where it stopped."""
    message: Message | None
    """The model's last message; None if nothing arrived."""
    finish: FinishReason | Stop
    """`stop` for an answer; `tool_calls` if the model waits for tools that the caller runs."""
    steps: tuple[StepRecord, ...] = ()
    """One for each request, including earlier attempts with the same key."""
    seqs: tuple[int, ...] = ()
    """The numbers of all stored messages, including the question."""
    error: ReplyError | None = None
    """Why the answer was interrupted, if it was."""

    @property
    def text(self) -> str:
        """The text of the answer."""
        return self.message.text if self.message else ""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls of the last message; with `tool_calls`, those that the caller has to run."""
        return self.message.calls if self.message else ()

    @property
    def usage(self) -> Usage:
        """The tokens of all requests together."""
        counts = [step.usage for step in self.steps]
        fields = Usage.__struct_fields__
        return Usage(**{name: sum(getattr(one, name) for one in counts) for name in fields})

    @property
    def price(self) -> float | None:
        """US dollars of all requests together; None if a price is unknown."""
        prices = [step.price for step in self.steps if step.price is not None]
        return sum(prices) if len(prices) == len(self.steps) else None

    @property
    def cached(self) -> float:
        """The share of the input that came from the provider's cache, from 0 to 1."""
        usage = self.usage
        return usage.cached / usage.input if usage.input else 0.0


AskEvent: TypeAlias = Event | StepStart | StepEnd | ToolEnd | Answer
"""The events of `ask_stream`."""
