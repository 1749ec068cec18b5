"""Replies and streams by format name: read, written, and translated."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

from contextwright.errors import UsageError, require, shown
from contextwright.formats.replies.beside import name_losses
from contextwright.formats.replies.events import Event, Finish, ReplyStart
from contextwright.formats.replies.reader import StreamReader, read, read_async
from contextwright.formats.replies.reply import ModelReply, events_of
from contextwright.formats.replies.writer import StreamWriter, require_names
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, as_conversation
from contextwright.messages.message import Message
from contextwright.messages.parts import ToolCall
from contextwright.messages.validation import naming_faults_of

__all__ = [
    "WrittenReply",
    "as_reply",
    "read_stream",
    "read_stream_async",
    "stream_reader",
    "stream_writer",
    "write_reply",
    "write_stream",
]

CLASSES = {
    "anthropic": ("anthropic", "Anthropic"),
    "gemini": ("gemini", "Gemini"),
    "openai-chat": ("openai_chat", "Chat"),
    "openai-responses": ("openai_responses", "Responses"),
}
"""Each provider's folder, and the prefix of its classes."""
DATED = ("openai-chat", "openai-responses")
"""Formats whose replies have a creation time."""
FAILING = ("openai-responses",)
"""Formats whose whole replies may hold an error; a stream of any format may."""


class WrittenReply(NamedTuple):
    """A reply in a provider's format, and what that format could not carry."""

    body: dict[str, Any]
    changes: tuple[Change, ...]


def provider_part(format: str, module: str) -> Any:
    """Import a module of a provider's folder on first use."""
    if not isinstance(format, str) or format not in CLASSES:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"{shown(format)} has no streams", hint=f"known: {', '.join(CLASSES)}")
    return import_module(f"contextwright.formats.{CLASSES[format][0]}.{module}")


def stream_reader(format: str) -> StreamReader:
    """Return a reader of one stream: provider events in, our events out."""
    return getattr(provider_part(format, "stream"), f"{CLASSES[format][1]}Reader")()


def stream_writer(
    format: str, model: str = "", *, id: str | None = None, created: int = 0
) -> StreamWriter:
    """Return a writer of one stream: our events in, provider events out."""
    module = provider_part(format, "stream_writer")
    return getattr(module, f"{CLASSES[format][1]}Writer")(model, id=id, created=created)


def read_stream(source: Iterable[Any], format: str) -> Iterator[Event]:
    """Read a streamed reply piece by piece.

    `source` yields bytes cut anywhere, decoded events, or SDK objects. If it raises or ends too
    early, the last event is a `Finish` with `interrupted` or `error`.
    """
    return read(source, stream_reader(format))


def read_stream_async(source: AsyncIterable[Any], format: str) -> AsyncGenerator[Event, None]:
    """Read a streamed reply piece by piece from an asynchronous source."""
    return read_async(source, stream_reader(format))


def write_stream(
    events: Iterable[Event],
    format: str,
    *,
    model: str = "",
    id: str | None = None,
    created: int = 0,
) -> Iterator[bytes]:
    """Write a streamed reply piece by piece, as the bytes of server-sent events."""
    writer = stream_writer(format, model, id=id, created=created)
    require(events, Iterable, "events", "read_stream() yields them")
    for event in events:
        with naming_faults_of(event):
            frames = [frame.encode() for frame in writer.write(event)]
        yield from frames


def write_reply(
    reply: Conversation | Message,
    format: str,
    *,
    model: str = "",
    id: str | None = None,
    created: int = 0,
) -> WrittenReply:
    """Write a whole reply as the provider would.

    `id` and `created` (seconds) are used if the reply has none.
    """
    require_names(model, id, created)
    reply = as_reply(reply)
    start, *_, finish = events_of(reply)
    assert isinstance(start, ReplyStart)
    assert isinstance(finish, Finish)
    id = id or start.id
    module = provider_part(format, "reply")
    dated = (created,) if format in DATED else ()
    with naming_faults_of(reply):
        body, changes = module.write_reply(reply, finish, model or reply.model or "", id, *dated)
    name_losses(finish, format, changes)
    if reply.error is not None and format not in FAILING:
        reason = f"a whole reply of {format} holds no error: {shown(reply.error.message)}"
        changes.append(Change("loss.error", "reply", reason))
    return WrittenReply(body, tuple(changes))


def as_reply(reply: Conversation | Message) -> ModelReply:
    """Return a reply from an assistant message, or from a conversation that holds one."""
    if isinstance(reply, ModelReply):
        return reply
    reply = as_conversation(reply)
    if len(reply.messages) != 1 or reply.messages[0].role != "assistant":
        raise UsageError("a reply is one message of the assistant")
    fields = {name: getattr(reply, name) for name in Conversation.__struct_fields__}
    parts = reply.messages[0].parts
    calls = any(isinstance(part, ToolCall) for part in parts)
    return ModelReply(**fields, finish="tool_calls" if calls else "stop")
