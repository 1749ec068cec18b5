"""gryag's limits on media, and its token estimate."""

from __future__ import annotations

from collections.abc import Sequence

from contextwright.errors import require
from contextwright.formats.rules import clean_name
from contextwright.messages.changes import Change
from contextwright.messages.conversation import as_conversation
from contextwright.messages.message import Message
from contextwright.messages.parts import Media, Part, Text
from contextwright.messages.validation import refuse_faults

__all__ = ["estimate", "estimate_text", "limit_media"]

TOTAL, CURRENT = 28, 8
CYRILLIC, MIXED, LATIN, SYMBOLS = 5.0, 4.5, 4.0, 3.5
"""Characters per token, by script."""
COSTS = {"image": 250, "video": 500, "audio": 300, "document": 100}


def limit_media(
    messages: Sequence[Message], *, total: int = TOTAL, current: int = CURRENT
) -> tuple[tuple[Message, ...], tuple[Change, ...]]:
    """Replace the oldest media with a placeholder; return the messages and a change for each.

    At most `total` media stay, at most `current` of them in the last message.
    """
    require(total, int, "total")
    require(current, int, "current")
    messages = as_conversation(messages).messages
    refuse_faults(messages)
    kept: list[Message] = []
    changes: list[Change] = []
    room = total
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        counted = sum(isinstance(part, Media) for part in message.parts)
        here = min(room, current) if index == len(messages) - 1 else room
        if counted > here:
            message = message.with_parts(limited(message, counted - here, index, changes))
        room -= min(counted, here)
        kept.append(message)
    return tuple(reversed(kept)), tuple(reversed(changes))


def limited(message: Message, surplus: int, index: int, changes: list[Change]) -> list[Part]:
    """Return the parts of a message with its first `surplus` media replaced by placeholders."""
    parts: list[Part] = []
    for place, part in enumerate(message.parts):
        if isinstance(part, Media) and surplus:
            surplus -= 1
            what = part.mime or part.url or part.file_id or part.kind
            changes.append(Change("loss.media", f"messages[{index}].parts[{place}]", "too many"))
            part = Text(f"[media: {clean_name(what)}]")
        parts.append(part)
    return parts


def estimate(message: Message) -> int:
    """Return gryag's token estimate for a message; it is too low for real Cyrillic text."""
    words = sum(estimate_text(part.text) for part in message.parts if isinstance(part, Text))
    return words + sum(COSTS[part.kind] for part in message.parts if isinstance(part, Media))


def estimate_text(text: str) -> int:
    """Return gryag's token estimate for a text, by its script."""
    if not text:
        return 0
    letters = sum(letter.isalpha() for letter in text)
    cyrillic = sum("\u0400" <= letter <= "\u04ff" for letter in text)
    symbols = sum(not (letter.isalnum() or letter.isspace()) for letter in text)
    if symbols > len(text) * 0.2:
        rate = SYMBOLS
    elif cyrillic > letters * 0.5:
        rate = CYRILLIC
    else:
        rate = MIXED if cyrillic else LATIN
    return max(1, int(len(text) / rate))
