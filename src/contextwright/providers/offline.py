"""Models that reply without a network or a key, for experiments and tests."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from contextwright import formats
from contextwright.errors import ProviderError, UsageError, require
from contextwright.formats.replies.events import (
    ArgumentsDelta,
    Event,
    ReplyError,
    TextDelta,
    ThinkingDelta,
)
from contextwright.formats.replies.reply import ModelReply, events_of
from contextwright.formats.replies.streams import as_reply
from contextwright.messages.conversation import Conversation, as_conversation
from contextwright.messages.make import assistant
from contextwright.messages.message import Message
from contextwright.providers.base import AnyProvider

__all__ = ["Echo", "Script"]

PIECE_CHARS = 12


class Echo(AnyProvider):
    """Replies with the text of the last user message."""

    def __init__(self, format: str = "openai-chat") -> None:
        self.format = format

    async def stream(
        self, payload: Mapping[str, Any], *, model: str
    ) -> AsyncGenerator[Event, None]:
        """Return the question, in pieces."""
        conversation = formats.find(self.format).parse(dict(payload), False)
        said = [message.text for message in conversation.messages if message.role == "user"]
        reply = as_reply(assistant(said[-1] if said else ""))
        for event in in_pieces(named(reply, model)):
            yield event


class Script(AnyProvider):
    """Plays recorded replies, one for each request: messages, whole replies, or errors.

    A `Conversation` plays its assistant messages. `requests` keeps the payloads received.
    """

    def __init__(
        self,
        answers: Conversation | Iterable[Message | ModelReply | ReplyError],
        format: str = "openai-chat",
    ) -> None:
        self.format = format
        require(answers, Iterable | Conversation, "answers", "messages of the assistant")
        if isinstance(answers, Conversation) and not isinstance(answers, ModelReply):
            said = as_conversation(answers).messages
            answers = [message for message in said if message.role == "assistant"]
        elif isinstance(answers, ModelReply):
            answers = [answers]
        self.answers: Sequence[Any] = tuple(answers)
        self.requests: list[dict[str, Any]] = []

    async def stream(
        self, payload: Mapping[str, Any], *, model: str
    ) -> AsyncGenerator[Event, None]:
        """Play the next reply, in pieces.

        Raises:
            ProviderError: the next reply is an error.
            UsageError: the script has ended.
        """
        number = len(self.requests)
        self.requests.append(dict(payload))
        if number >= len(self.answers):
            raise UsageError(f"the script has {len(self.answers)} answers, and all were used")
        answer = self.answers[number]
        if isinstance(answer, ReplyError):
            raise ProviderError(
                answer.message,
                kind=answer.kind,
                status=answer.status,
                retry_after=answer.retry_after,
            )
        for event in in_pieces(named(as_reply(answer), model)):
            yield event


def named(reply: ModelReply, model: str) -> Iterator[Event]:
    """Yield the events of a reply under the name of a model."""

    return events_of(reply if reply.model else replace(reply, model=model))


def in_pieces(events: Iterable[Event]) -> Iterator[Event]:
    """Yield the same events with their texts in pieces, as a model writes."""

    for event in events:
        if not isinstance(event, TextDelta | ThinkingDelta | ArgumentsDelta):
            yield event
            continue
        for start in range(0, len(event.text), PIECE_CHARS):
            yield replace(event, text=event.text[start : start + PIECE_CHARS])
