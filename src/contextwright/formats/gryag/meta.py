r"""gryag's metadata blocks: `[meta] chat_id=-123 user_id=456 name="Alice"` and similar ones.

`messages/sender.py` writes them. `read_metadata` reads them back into the sender's fields, and
`clean_reply` removes them from a model's reply. Both are a single forward scan: a block ends where
its pairs end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from contextwright.errors import require
from contextwright.messages.message import Author, Reply
from contextwright.messages.sender import KEYS, META, format_metadata, metadata_of

__all__ = ["Sender", "clean_reply", "format_metadata", "metadata_of", "read_metadata", "sender_of"]

OPENINGS = ("[speaker ", "[meta ")
"""The openings of blocks that have their pairs inside the brackets."""
LONGEST_OPENING = max(map(len, OPENINGS))
MOST_PASSES = 8
PLACEHOLDERS = frozenset(
    ("[generated_image]", "[image_generated]", "[attachment]", "[generated]", "[image]")
)


# --- reading ---------------------------------------------------------------------------------


class Pairs(Struct):
    """The pairs of a block, and its end."""

    values: dict[str, str | int]
    end: int


def read_metadata(text: str) -> tuple[dict[str, str | int], str] | None:
    """Read the `[meta]` and `[speaker …]` blocks at the start of a text; return pairs and rest.

    A block must be on a line of its own and have a key of gryag's, because otherwise people may
    have written it.
    """
    require(text, str, "text")
    values: dict[str, str | int] = {}
    place = 0
    while (block := read_head(text, place)) is not None:
        values.update(block.values)
        place = block.end
    return (values, text[place:]) if place else None


def read_head(text: str, start: int) -> Pairs | None:
    """Read a block on a line of its own; its end is the start of the next line."""
    begin = beyond(text, start, " \t\r\n")
    block = read_block(text, begin) if text.startswith("[", begin) else None
    if block is None or not is_technical(block.values):
        return None
    end = beyond(text, block.end, " \t\r")
    if end < len(text) and text[end] != "\n":
        return None
    return Pairs(block.values, beyond(text, end, "\r\n"))


def beyond(text: str, start: int, letters: str) -> int:
    """Return the first position that has none of these letters."""
    end = start
    while end < len(text) and text[end] in letters:
        end += 1
    return end


def read_block(text: str, start: int) -> Pairs | None:
    """Read the block that begins at a position, if there is one."""
    if text[start : start + len(META)].lower() == META:
        return read_pairs(text, start + len(META))
    if not text[start : start + LONGEST_OPENING].lower().startswith(OPENINGS):
        return None
    block = read_pairs(text, text.index(" ", start), "]")
    closed = text.startswith("]", block.end)
    return Pairs(block.values, block.end + 1) if closed and block.values else None


def read_pairs(text: str, start: int, closing: str = "") -> Pairs:
    """Read consecutive `key=value` pairs; the end is after the last."""
    values: dict[str, str | int] = {}
    end = place = start
    while True:
        place = beyond(text, place, " \t")
        equals = key_end(text, place)
        if equals == place or not text.startswith("=", equals):
            return Pairs(values, end)
        value, end = read_value(text, equals + 1, closing)
        values[text[place:equals]] = value
        place = end


def key_end(text: str, start: int) -> int:
    """Return the end of a key, which has lower-case letters and underscores."""
    end = start
    while end < len(text) and (text[end] == "_" or "a" <= text[end] <= "z"):
        end += 1
    return end


def read_value(text: str, start: int, closing: str) -> tuple[str | int, int]:
    """Read a value, quoted or up to the next space or block; return it and its end.

    A value that ran over the next block would be read again with that one, in quadratic time.
    """
    if text.startswith('"', start):
        return read_quoted(text, start + 1)
    end = start
    while end < len(text) and not text[end].isspace() and text[end] != closing:
        if text[end] == "[" and is_opening(text, end):
            break
        end += 1
    bare = text[start:end]
    digits = bare.removeprefix("-")
    whole = digits.isdecimal() and digits.isascii() and len(digits) < 20
    return (int(bare) if whole else bare), end


def is_opening(text: str, start: int) -> bool:
    """Whether a block may begin at a position."""
    return text[start : start + LONGEST_OPENING].lower().startswith((META, *OPENINGS))


def read_quoted(text: str, start: int) -> tuple[str, int]:
    """Read a quoted value; without a closing quote it is the rest of the line."""
    pieces: list[str] = []
    place = start
    while (quote := text.find('"', place)) >= 0:
        piece = text[place:quote]
        kept = piece.rstrip("\\")
        slashes = len(piece) - len(kept)
        pieces.append(kept + "\\" * (slashes // 2))
        place = quote + 1
        if slashes % 2 == 0:
            return "".join(pieces), place
        pieces.append('"')
    line_end = text.find("\n", place)
    line_end = len(text) if line_end < 0 else line_end
    return "".join([*pieces, text[place:line_end]]), line_end


class Sender(Struct, frozen=True):
    """The sender of a message, from the blocks before it."""

    author: Author | None = None
    reply_to: Reply | None = None
    meta: dict[str, Any] = {}


def sender_of(values: Mapping[str, str | int]) -> Sender:
    """Return author, reply and other fields from the pairs of a block.

    An id that was text is also kept in `meta`, so that it is written back as text.
    """
    rest: dict[str, Any] = {}
    known = {**values}
    if "id" in known:
        known.setdefault("user_id", known.pop("id"))  # a speaker block uses the shorter key
    if (
        isinstance(known.get("user_id"), str)
        and str(known["user_id"]).removeprefix("-").isdecimal()
    ):
        rest["user_id"] = known["user_id"]
    author = Author(text_of(known, "user_id"), text_of(known, "name"), text_of(known, "username"))
    answered = Author(
        text_of(known, "reply_to_user_id"),
        text_of(known, "reply_to_name"),
        text_of(known, "reply_to_username"),
    )
    reply = Reply(
        text_of(known, "reply_to_message_id"),
        answered if answered != Author() else None,
        text_of(known, "reply_excerpt"),
    )
    said = ("user_id", "name", "username", "role")
    for key, value in known.items():
        if key not in said and not key.startswith("reply_"):
            rest[key] = value
    return Sender(author if author != Author() else None, reply if reply != Reply() else None, rest)


def text_of(values: Mapping[str, str | int], key: str) -> str | None:
    """Return a value as text, or None."""
    value = values.get(key)
    return None if value is None or value == "" else str(value)


# --- cleaning what a model says --------------------------------------------------------------


def clean_reply(text: str) -> str:
    """Return a reply fit for people: without metadata blocks, ids and placeholders.

    Removes blocks anywhere, but pairs and placeholders only from lines that hold nothing else.
    Keeps everything in code fences, and all paragraphs.
    """
    require(text, str, "a reply")
    kept: list[str] = []
    fence = ""
    removed = False
    for line in text.split("\n"):
        if not (fence or "[" in line or "=" in line or "`" in line or "~" in line):
            kept.append(line)
            continue
        mark = fence_mark(line)
        if fence:
            kept.append(line)
            if mark.startswith(fence) and line.strip() == mark:
                fence = ""
            continue
        fence = mark
        cleaned = line if mark else clean_line(line)
        if cleaned == line:
            kept.append(line)
        elif cleaned.strip():
            kept.append(cleaned.rstrip())
            removed = True
        else:
            removed = True
            if kept and not kept[-1].strip():
                kept.pop()  # avoid two blank lines in a row
    return "\n".join(kept).strip("\r\n") if removed else text


def fence_mark(line: str) -> str:
    """Return the marks that open or close a code fence on this line."""
    start = line.lstrip(" ")
    for letter in ("`", "~"):
        length = len(start) - len(start.lstrip(letter))
        if length >= 3 and len(line) - len(start) < 4:
            return letter * length
    return ""


def clean_line(line: str) -> str:
    """Remove from one line what only the bot should see.

    Removing a block may join two halves into another one, so this takes several passes. A line that
    is still not clean after a few was made to deceive, and is dropped.
    """
    for _ in range(MOST_PASSES):
        cleaned = clean_once(line)
        if cleaned == line:
            return line
        line = cleaned
    return ""


def clean_once(line: str) -> str:
    """Remove the blocks that the line holds now."""
    bare = line.strip()
    lower = line.lower()
    if lower.strip() in (*PLACEHOLDERS, META) or is_pairs(bare):
        return ""
    if META not in lower and not any(opening in lower for opening in OPENINGS):
        return line
    pieces: list[str] = []
    place = 0
    in_code = False
    while (bracket := line.find("[", place)) >= 0:
        in_code ^= line.count("`", place, bracket) % 2 == 1
        block = None if in_code else read_block(line, bracket)
        if block is None or not is_technical(block.values):
            pieces.append(line[place : bracket + 1])
            place = bracket + 1
            continue
        pieces.append(line[place:bracket])
        place = block.end
        if not pieces[-1] or pieces[-1].endswith(" "):
            while line.startswith(" ", place):
                place += 1  # leave one space between the words on both sides
    pieces.append(line[place:])
    cleaned = "".join(pieces)
    return cleaned if cleaned.strip() else ""


def is_pairs(line: str) -> bool:
    """Whether a line holds only pairs that name an id."""
    if "_id=" not in line:
        return False
    block = read_pairs(line, 0)
    return block.end == len(line) and is_technical(block.values) and set(block.values) <= {*KEYS}


def is_technical(values: Mapping[str, str | int]) -> bool:
    """Whether pairs are metadata rather than something a person wrote."""
    return any(key in KEYS or key in ("id", "role", "is_bot") for key in values)
