"""Compactions: Codex asks its provider to sum up a long session, and goes on from the summary.

OpenAI answers with an item whose content is encrypted. Other providers know no such items: they are
asked for a summary in words, and the client keeps it in an item of ours.
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from hashlib import blake2b
from itertools import groupby

from msgspec.structs import replace

from contextwright.formats.replies.events import (
    ErrorEvent,
    Event,
    Finish,
    PartEnd,
    ReplyError,
    ReplyStart,
    UsageUpdate,
)
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.messages.make import user
from contextwright.messages.message import Message
from contextwright.messages.parts import Opaque, Part, Text

__all__ = ["MARK", "asks_for_summary", "compacted", "in_words"]

RESPONSES = "openai-responses"
MARK = "contextwright-summary:"
"""The beginning of the content of an item of ours."""
INSTRUCTIONS = """\
Write a summary of this conversation for a model that goes on with it and does not see it: \
what was asked for, what was done, found out and decided, which files, commands and names matter, \
what is still to be done, and what comes next. Answer with the summary alone, and call no tool."""
HEADING = "Summary of the conversation before:"
IN_WORDS = "a compaction that OpenAI did not make is a summary in words"
WITHOUT_CONTENT = (ReplyStart, UsageUpdate, ErrorEvent, Finish)
NO_ANSWER = ("refusal", "filter", "error", "interrupted")
"""The ends of answers that are no summaries."""


def asks_for_summary(said: Conversation) -> bool:
    """Whether a client ends its request with a request for a compaction."""
    last = said.messages[-1].parts if said.messages else ()
    return bool(last) and kind_of(last[-1]) == "compaction_trigger"


def in_words(said: Conversation, format: str) -> Conversation:
    """Return a conversation with compactions of ours as messages, for an upstream of a format.

    So is the request for one, unless the upstream is OpenAI.
    """
    messages: list[Message] = []
    changes: list[Change] = []
    for index, message in enumerate(said.messages):
        spelt = list(spelt_out(message, format))
        messages += spelt or [message]
        if spelt:
            changes.append(Change("repair.compaction", f"messages[{index}]", IN_WORDS))
    if not changes:
        return said
    return replace(said, messages=tuple(messages), changes=(*said.changes, *changes))


def spelt_out(message: Message, format: str) -> Iterator[Message]:
    """Yield the messages that say in words what one with a compaction says; none for others."""
    words = {id(part): words_for(part, format) for part in message.parts}
    if any(words.values()):
        for text, parts in groupby(message.parts, lambda part: words[id(part)]):
            yield user(text) if text else message.with_parts(tuple(parts))


def words_for(part: Part, format: str) -> str:
    """Return what the user says in the place of a part; empty if it stays."""
    if kind_of(part) == "compaction_trigger" and format != RESPONSES:
        return INSTRUCTIONS
    summary = summary_in(part)
    return f"{HEADING}\n\n{summary}" if summary else ""


def summary_in(part: Part) -> str:
    """Return the summary in an item of ours; empty if the part is something else."""
    content = part.data.get("encrypted_content") if isinstance(part, Opaque) else None
    if not isinstance(content, str) or not content.startswith(MARK):
        return ""
    try:
        return b64decode(content.removeprefix(MARK), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def kind_of(part: Part) -> object:
    """Return the type of an item that only Responses has; None for other parts."""
    return part.data.get("type") if isinstance(part, Opaque) and part.format == RESPONSES else None


async def compacted(
    batches: AsyncGenerator[list[Event], None],
) -> AsyncGenerator[list[Event], None]:
    """Yield an answer with all its text in one item of ours, at the end."""
    texts: dict[int, str] = {}
    async with aclosing(batches):
        async for batch in batches:
            for event in batch:
                if isinstance(event, PartEnd) and isinstance(event.part, Text):
                    texts[event.index] = event.part.text
            kept: list[Event] = [event for event in batch if isinstance(event, WITHOUT_CONTENT)]
            last = kept[-1] if kept else None
            if isinstance(last, Finish) and last.reason not in NO_ANSWER:
                kept[-1:] = ending(last, "\n\n".join(texts.values()).strip())
            if kept:
                yield kept


def ending(finish: Finish, summary: str) -> list[Event]:
    """Return the last events of an answer: the item of a summary, or that there is none."""
    if not summary:
        error = ReplyError("server", "the model wrote no summary of the conversation")
        return [ErrorEvent(error), replace(finish, reason="error")]
    content = MARK + b64encode(summary.encode()).decode()
    id = "cmp_" + blake2b(content.encode(), digest_size=16).hexdigest()
    item = {"type": "compaction", "id": id, "encrypted_content": content}
    return [PartEnd(0, Opaque(RESPONSES, item, summary)), replace(finish, reason="stop")]
