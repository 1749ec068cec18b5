"""The message that a question replies to: as the question describes it, and its index."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from contextwright.messages.message import Message, Reply
from contextwright.messages.parts import Media, Text
from contextwright.messages.quotes import source_id
from contextwright.messages.sender import number

__all__ = ["REPLY_REACH", "SPEAKERS", "answered", "is_shown", "named_by", "place_of", "replied_to"]

SPEAKERS = {"user": "user", "assistant": "bot", "system": "system"}
"""The roles of messages that people see, and the words for them."""
REPLY_REACH = 200
"""Number of newest messages among which the parent of a question is looked for."""


def replied_to(messages: Sequence[Message], question: Message) -> Reply | None:
    """Return the reply of a question; fields that it lacks come from the message it names."""
    reply = question.reply_to
    if reply is None or (reply.author and reply.excerpt):
        return reply
    place = answered(messages, question)
    if place is None:
        return reply
    parent = messages[place]
    author, excerpt = reply.author or parent.author, reply.excerpt or parent.text
    return replace(reply, author=author, excerpt=excerpt or None)


def place_of(messages: Sequence[Message], question: Message) -> int:
    """Return the index of the question; after the last message if it is not among them."""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place] is question:
            return place
    return len(messages)


def named_by(question: Message) -> Message | None:
    """Return the message that a question replies to, as far as the question describes it."""
    reply = question.reply_to
    if reply is None or not (reply.author or reply.excerpt or reply.media):
        return None
    words = (Text(reply.excerpt),) if reply.excerpt else ()
    meta = {"message_id": number(reply.message_id)} if reply.message_id else {}
    return Message("user", (*words, *reply.media), reply.author, meta=meta)


def is_shown(message: Message) -> bool:
    """Whether a message has a line: it is public, and not only tool calls."""
    said = not message.parts or any(isinstance(part, Text | Media) for part in message.parts)
    return said and message.role in SPEAKERS and message.visibility == "public"


def answered(messages: Sequence[Message], question: Message) -> int | None:
    """Return the index of the message that a question replies to, if it is among the newest."""
    reply = question.reply_to
    if reply is None or reply.message_id is None:
        return None
    chat = question.meta.get("chat_id")
    # Beside messages with ids of a chat, the id of an import is only a position.
    id_of = sent_id if "message_id" in question.meta else source_id
    end = place_of(messages, question)
    for place in range(end - 1, max(0, len(messages) - REPLY_REACH) - 1, -1):
        message = messages[place]
        same_chat = chat is None or str(message.meta.get("chat_id", chat)) == str(chat)
        if same_chat and id_of(message) == reply.message_id:
            return place if is_shown(message) else None
    return None


def sent_id(message: Message) -> str | None:
    """Return the id that a message has in its chat; None if it has none."""
    return str(message.meta["message_id"]) if "message_id" in message.meta else None
