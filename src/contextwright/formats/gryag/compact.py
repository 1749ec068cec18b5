"""gryag's oldest form, plain text: one message per line, `Alice#987654: words`.

The number after a name is a label, not a user id: the documents disagree on which digits of the id
it shows. A line without a speaker continues the previous message. Text that looks like a speaker is
therefore read as one, because the form has no escape.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from contextwright.errors import ParseError
from contextwright.formats.reader import Reader
from contextwright.messages.message import Author, Message, Reply
from contextwright.messages.parts import Text
from contextwright.text.json import decode_json

__all__ = ["compact_text", "is_compact", "read_compact"]

BOT = "gryag"
ARROW = " → "
RESPOND = "[RESPOND]"
EXCERPT = "[↩"
LONGEST_NAME = 128
MOST_LOOKED_AT = 4_096
"""Number of bytes to look at when detecting compact text."""


JSON_STARTS = (b"{", b"[", b'"')


def is_compact(data: bytes, *, named: bool = False) -> bool:
    """Whether the beginning of a file is compact text.

    Its first line begins with a speaker. A file that is `named` as such may hold any text that is
    not JSON and does not begin like JSON.
    """
    start = data[:MOST_LOOKED_AT].removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start or start.startswith(JSON_STARTS):
        return False
    first = start.splitlines()[0].decode("utf-8", "replace")
    return (named and not is_json(start)) or split_line(first)[0] is not None


def is_json(data: bytes) -> bool:
    """Whether the bytes are a complete JSON value."""
    try:
        decode_json(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True


def compact_text(data: bytes) -> str:
    """Decode a file in the compact form.

    Raises:
        ParseError: the file is not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ParseError("not UTF-8", line=data.count(b"\n", 0, error.start) + 1) from None


class Speaker(Struct, frozen=True):
    """The speaker of a line, and the person they reply to."""

    name: str
    label: str | None = None
    answers: Speaker | None = None


class Entry(Struct):
    """A message under construction."""

    speaker: Speaker | None
    lines: list[str]


def read_compact(text: str, reader: Reader) -> list[Message]:
    """Read the messages of a compact text. Other line breaks than `\\n` are part of a message."""
    entries: list[Entry] = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.removesuffix("\r")
        if line.strip() == RESPOND:
            reader.repair("repair.cue", f"line {number}", "a cue for the model, not a message")
            continue
        speaker, words = split_line(line)
        if speaker is not None:
            entries.append(Entry(speaker, [words]))
        elif entries:
            entries[-1].lines.append(line)
        elif line.strip():
            reader.repair("repair.author", f"line {number}", "text before the first speaker")
            entries.append(Entry(None, [line]))
    return [message_of(entry) for entry in entries]


def split_line(line: str) -> tuple[Speaker | None, str]:
    """Split a line into its speaker, if there is one, and the text."""
    head, colon, words = line.partition(":")
    if not colon or (words and not words.startswith(" ")):
        return None, line
    first, arrow, second = head.partition(ARROW)
    speaker = speaker_of(first)
    answered = speaker_of(second) if arrow else None
    if speaker is None or (arrow and answered is None):
        return None, line
    return Speaker(speaker.name, speaker.label, answered), words.removeprefix(" ")


def speaker_of(head: str) -> Speaker | None:
    """Read a speaker: the bot, or a name with a number."""
    if head == BOT:
        return Speaker(BOT)
    name, mark, label = head.rpartition("#")
    named = mark and name.strip() == name != "" and len(name) <= LONGEST_NAME
    return Speaker(name, label) if named and label.isascii() and label.isdecimal() else None


def message_of(entry: Entry) -> Message:
    """Build a message from its lines."""
    speaker = entry.speaker
    quoted, excerpt, lines = take_excerpt(entry.lines)
    words = "\n".join(lines).rstrip("\n")
    parts = (Text(words),) if words else ()
    if speaker is None:
        return Message("user", parts)
    name = speaker.answers.name if speaker.answers else quoted
    answered = Author(name=name) if name else None
    reply = Reply(author=answered, excerpt=excerpt) if answered or excerpt else None
    if speaker.label is None:
        return Message("assistant", parts, reply_to=reply)
    meta = {"label": speaker.label}
    return Message("user", parts, Author(name=speaker.name), reply, meta=meta)


def take_excerpt(lines: list[str]) -> tuple[str | None, str | None, list[str]]:
    """Take the quote `[↩︎ Name: words]` from the start of a message or its own line.

    Returns the name, the words and the other lines.
    """
    for index, line in enumerate(lines[:2]):
        quote, closed, rest = line.partition("]")
        if not (quote.startswith(EXCERPT) and closed):
            continue
        said = quote.removeprefix(EXCERPT).lstrip("\ufe0e\ufe0f ")
        name, colon, words = said.partition(": ")
        if not colon:
            name, words = "", said
        rest = rest.removeprefix(" ")
        kept = [rest] if rest else []
        return name or None, words or None, [*lines[:index], *kept, *lines[index + 1 :]]
    return None, None, lines
