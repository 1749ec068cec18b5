"""A message's sender in one line: `[meta] chat_id=-123 user_id=456 name="Alice"`.

gryag used to write it before every message, and still does in its system prompt. The format `gryag`
reads it back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contextwright.errors import require
from contextwright.messages.message import Author, Message, Reply

__all__ = ["KEYS", "META", "format_metadata", "metadata_of"]

META = "[meta]"
NAMES = ("username", "name", "reply_to_username", "reply_to_name")
KEYS = (
    "chat_id",
    "thread_id",
    "message_id",
    "user_id",
    "username",
    "name",
    "reply_to_message_id",
    "reply_to_user_id",
    "reply_to_username",
    "reply_to_name",
    "reply_excerpt",
)
"""The keys of a block, in order."""
NEVER_ZERO = ("thread_id", "reply_to_message_id", "reply_to_user_id")
LONGEST_NAME, LONGEST = 100, 120
LINE_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
ONE_LINE = str.maketrans(dict.fromkeys(LINE_BREAKS, " ") | {"[": None, "]": None})


def format_metadata(meta: Mapping[str, Any], *, include_reply_chain: bool = True) -> str:
    """Return a metadata block, or an empty string if nothing is known.

    Numbers are bare, text is quoted; long text is truncated, brackets and line breaks are removed,
    so that no name can close the block or open another.
    """
    require(meta, Mapping, "metadata", "names and values")
    pairs: list[str] = []
    for key in KEYS:
        value = meta.get(key)
        if not include_reply_chain and key.startswith("reply_to_"):
            continue
        if value is None or value == "" or (value in (0, "0") and key in NEVER_ZERO):
            continue
        if isinstance(value, int) and not isinstance(value, bool):
            pairs.append(f"{key}={value}")
            continue
        text = one_line(str(value), LONGEST_NAME if key in NAMES else LONGEST)
        if text:
            pairs.append(f'{key}="{escaped(text)}"')
    return f"{META} {' '.join(pairs)}" if pairs else ""


def one_line(text: str, longest: int) -> str:
    """Return text on one line, without brackets, truncated to `longest` characters."""
    line = text[: 16 * longest].replace("\r\n", "\n").translate(ONE_LINE)
    return line if len(line) <= longest else f"{line[: longest - 2]}.."


def escaped(text: str) -> str:
    """Escape text for use between quotes.

    Backslashes are doubled only before a quote, because there they would escape it.
    """
    pieces = text.split('"')
    doubled = [piece + "\\" * (len(piece) - len(piece.rstrip("\\"))) for piece in pieces]
    return '\\"'.join(doubled)


def metadata_of(message: Message) -> dict[str, Any]:
    """Return the values of the `[meta]` block of a message."""
    author, reply = message.author or Author(), message.reply_to or Reply()
    answered = reply.author or Author()
    return {
        **{key: message.meta[key] for key in KEYS[:3] if key in message.meta},
        "user_id": message.meta.get("user_id", number(author.id)),
        "username": author.username,
        "name": author.name,
        "reply_to_message_id": number(reply.message_id),
        "reply_to_user_id": number(answered.id),
        "reply_to_username": answered.username,
        "reply_to_name": answered.name,
        "reply_excerpt": reply.excerpt,
    }


def number(id: str | None) -> str | int | None:
    """Return an id as a number if it is one."""
    digits = (id or "").removeprefix("-")
    plain = digits.isdecimal() and digits.isascii() and len(digits) < 20
    return int(id or 0) if plain and str(int(id or 0)) == id else id
