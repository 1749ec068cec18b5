"""`cw add`, `cw list` and `cw read`: stored conversations."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Literal

import msgspec

from contextwright import display
from contextwright.cli.arguments import read_time_option, read_words
from contextwright.cli.options import (
    Argument,
    AsJson,
    Conversation,
    Option,
    ReplaceInvalid,
    StoreOptions,
)
from contextwright.cli.output import note, say, say_json, table, written
from contextwright.cli.stores import existing, existing_chat, opened
from contextwright.errors import UsageError
from contextwright.formats.file_formats import iso_time
from contextwright.messages.message import Author, Message
from contextwright.messages.parts import Text, ToolCall, ToolResult
from contextwright.messages.times import read_time
from contextwright.store.chat import Chat
from contextwright.store.frames import with_time
from contextwright.store.records import ConversationInfo, StoredMessage
from contextwright.store.rows import validation
from contextwright.text.json import json_text
from contextwright.text.terminal import safe

__all__ = ["add", "list_all", "read"]

MAX_TITLE_CHARS = 60
EPOCH = datetime.fromtimestamp(0, UTC)


# --- add -----------------------------------------------------------------------------------------


def add(
    conversation: Conversation,
    text: Annotated[str, Argument("TEXT", help="Text of the message, or - for standard input.")],
    where: StoreOptions,
    role: Annotated[
        Literal["user", "assistant", "system"], Option("--role", help="Role of the message.")
    ] = "user",
    author: Annotated[
        str | None, Option("--author", metavar="ID", help="Id of the person who wrote it.")
    ] = None,
    at: Annotated[
        str | None,
        Option("--at", metavar="TIME", help="Time it was sent (ISO 8601). Default: none."),
    ] = None,
    key: Annotated[
        str | None,
        Option("--key", metavar="KEY", help="Idempotency key: a key is stored only once."),
    ] = None,
    replace_invalid: ReplaceInvalid = False,
    as_json: AsJson = False,
) -> int:
    """Store a message and print its number.

    The number is printed once the message is durable. The first message creates the conversation.
    Use cw append-stream or cw import for tool calls and for turns of several messages.

    \b
    cw add lunch "Suggest lunch options please." --author U1234546
    git diff | cw add review - --key "$GITHUB_RUN_ID"
    """
    message = Message(
        role,
        (Text(read_words(text, "the message")),),
        None if author is None else Author(author),
        sent_at=None if at is None else spelled_time(at),
    )
    changes = ()
    if replace_invalid:
        (message,), changes = validation.replace_invalid([message])
    with opened(where) as store:
        numbers = store.conversation(conversation).add(message, key)
    if as_json:
        say_json({"conversation": conversation, "seq": numbers, "key": key})
    else:
        say(" ".join(map(str, numbers)))
    for change in changes:
        note(f"cw: {change}")
    return 0


def spelled_time(text: str) -> str:
    """Return the time of `--at`: as spelled if it has a zone, else in UTC."""
    moment = read_time_option(text, "--at")
    return iso_time(text) or moment.isoformat()


# --- list ----------------------------------------------------------------------------------------


def list_all(
    where: StoreOptions,
    limit: Annotated[
        int | None,
        Option("--limit", "-n", min=1, metavar="N", help="List at most N. Default: all."),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """List conversations, the last active first.

    A conversation was active when its last message was sent, or when it was created.

    \b
    cw list
    cw list --limit 20 --json
    """
    with existing(where, embedder=None) as store:
        listed = [(active_at(store.conversation(info.id), info), info) for info in store.list()]
    listed.sort(key=lambda row: row[0])
    listed = listed[::-1][:limit]
    if as_json:
        say_json([{**msgspec.to_builtins(info), "active": time} for time, info in listed])
    elif listed:
        head = ("conversation", "messages", "active", "title", "agent", "forked from")
        say(table([head, *(row_of(time, info) for time, info in listed)]))
    else:
        note("cw: no conversations")
    return 0


def active_at(chat: Chat, info: ConversationInfo) -> datetime:
    """Return the time of the last message, or of the creation if the message has none."""
    last = chat.tail(1)
    time = with_time(last[0]).time if last else None
    return (time or read_time(info.created) or EPOCH).astimezone(UTC)


def row_of(active: datetime, info: ConversationInfo) -> tuple[str, ...]:
    """Return a conversation as a row of single-line cells."""
    fork = "" if info.parent is None else f"{info.parent} at {info.fork_at:,}"
    texts = (info.title or "", info.agent or "")
    return (info.id, f"{info.length:,}", display.human_time(active), *map(shortened, texts), fork)


def shortened(text: str) -> str:
    """Return text as one line that fits into a table."""
    line = safe(text, line=True)
    return line if len(line) <= MAX_TITLE_CHARS else f"{line[: MAX_TITLE_CHARS - 1]}…"


# --- read ----------------------------------------------------------------------------------------


def read(
    conversation: Conversation,
    where: StoreOptions,
    first: Annotated[
        int | None, Option("--first", min=1, metavar="N", help="Number of the first message.")
    ] = None,
    last: Annotated[
        int | None, Option("--last", min=1, metavar="N", help="Number of the last message.")
    ] = None,
    tail: Annotated[
        int | None, Option("--tail", min=0, metavar="N", help="Print the last N messages.")
    ] = None,
    hidden: Annotated[
        bool, Option("--hidden", help="Print the words of hidden and deleted messages too.")
    ] = False,
    as_json: Annotated[
        bool, Option("--json", help='Print one line each: {"seq", "key", "message"}.')
    ] = False,
) -> int:
    """Print stored messages with their numbers.

    Of hidden and deleted messages only author, time and state are printed.

    \b
    cw read lunch --first 40 --last 42
    cw read lunch --tail 5 --json
    """
    if tail is not None and (first is not None or last is not None):
        raise UsageError("--tail counts from the end", hint="leave out --first and --last")
    if last is not None and first is not None and last < first:
        raise UsageError(f"--last {last:,} is before --first {first:,}")
    with existing_chat(where, conversation) as chat, written(None) as write:
        stop = None if last is None else last + 1
        if tail is not None:
            first, stop = max(chat.length() - tail + 1, 1), None
        for stored in chat.read(first or 0, stop, hidden=hidden):
            if as_json:
                write(msgspec.json.encode(stored) + b"\n")
            else:
                say(as_lines(stored))
    return 0


def as_lines(stored: StoredMessage) -> str:
    """Return a message under its number, with its content indented."""
    message = stored.message
    if stored.damage:
        return f"{stored.seq:>6} {stored.damage} (cw doctor --repair sets it aside)"
    author = f" {message.author.label}" if message.author else ""
    time = f" {display.human_time(message.time)}" if message.time else ""
    remarks = display.remarks(message)
    head = safe(f"{stored.seq:>6}{time} {message.role}{author}{remarks}:", line=True)
    lines = [line for text in texts_of(message) for line in text.split("\n")]
    return "\n       ".join([f"{head} {lines[0]}".rstrip() if lines else head, *lines[1:]])


def texts_of(message: Message) -> Iterator[str]:
    """Yield the parts of a message as text."""
    for part in message.parts:
        match part:
            case Text() | ToolResult():
                yield part.text
            case ToolCall():
                yield f"{part.name}({json_text(part.arguments)})"
            case _:
                yield f"[{type(part).__name__.lower()}]"
