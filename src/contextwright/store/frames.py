"""A stored conversation as values: its frame, the whole of it, the time of its newest question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec

from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation, framed
from contextwright.messages.message import Message
from contextwright.messages.quotes import SOURCE
from contextwright.store.chat import Chat
from contextwright.store.records import ConversationInfo, StoredMessage

__all__ = [
    "TIMED",
    "conversation_of",
    "frame_of",
    "newest_question_time",
    "question_time",
    "with_time",
]

TIMED = ("aya", "port42")
"""Formats in which every message has a time."""
PAGE_SIZE, MAX_LOOKED_AT = 128, 1_024
"""Messages read at once, and in all, to find the time of the newest question."""


def frame_of(info: ConversationInfo) -> Conversation:
    """Return a stored conversation without its messages: its id, title, tools and settings."""
    about = {"title": info.title, "agent": info.agent}
    known = {name: value for name, value in about.items() if value is not None}
    frame = framed(info.settings)
    extra = {**frame.extra, "contextwright": known} if known else frame.extra
    return msgspec.structs.replace(frame, id=info.id, extra=extra)


def conversation_of(chat: Chat, *, timed: bool = False) -> Conversation:
    """Return a stored conversation with the tools and settings it was imported with.

    With `timed`, a message without a time gets the one it was stored at.
    """
    info = chat.details()
    read = list(chat.read())
    messages = tuple(with_time(stored) if timed else stored.message for stored in read)
    changes = [
        Change("loss.damaged", f"messages[{index}]", f"{stored.damage}; left out")
        for index, stored in enumerate(read)
        if stored.damage
    ]
    return msgspec.structs.replace(
        frame_of(info),
        messages=messages,
        source=source_of(info, messages),
        changes=tuple(changes),
    )


def with_time(stored: StoredMessage) -> Message:
    """Return a message with a time: its own, or when it was stored."""
    if stored.message.sent_at or stored.stored_at is None:
        return stored.message
    return msgspec.structs.replace(stored.message, sent_at=stored.stored_at)


def source_of(info: ConversationInfo, messages: Iterable[Message]) -> str | None:
    """Return the format it was imported from, if all its messages came from there."""
    source = info.settings.get("source")
    marks = (message.meta.get(SOURCE) for message in messages)
    same = all(isinstance(mark, str) and mark.startswith(f"{source}/") for mark in marks)
    return source if isinstance(source, str) and same else None


def newest_question_time(chat: Chat, at: int | None = None) -> datetime | None:
    """Return the time of the newest user message up to number `at`: when it was sent, or stored."""
    return question_time(newest_first(chat, at))


def newest_first(chat: Chat, at: int | None) -> Iterator[Message]:
    """Yield the last messages up to number `at`, newest first, read as needed."""
    last = chat.length() if at is None else at
    for stop in range(last, max(last - MAX_LOOKED_AT, 0), -PAGE_SIZE):
        page = list(chat.read(max(stop - PAGE_SIZE + 1, 1), stop + 1))
        yield from (with_time(stored) for stored in reversed(page))


def question_time(messages: Iterable[Message]) -> datetime | None:
    """Return the time of the first user message that has one."""
    times = (message.time for message in messages if message.role == "user" and message.sent_at)
    return next(times, None)
