"""`cw add`, `cw list`, `cw read` and `cw show`: conversations of a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from contextwright.cli import inspect
from contextwright.cli.input import text_given
from contextwright.cli.output import note, say, say_json, table, written
from contextwright.cli.store import conversation, existing, opened
from contextwright.cli.transfer import conversation_of, frame_of
from contextwright.context import Context
from contextwright.display import remarks
from contextwright.errors import UsageError
from contextwright.messages import Author, Message, Role, Text, ToolCall, ToolResult, json_text
from contextwright.store.chat import Chat
from contextwright.store.hygiene import mended
from contextwright.store.records import Details, Stored
from contextwright.terminal import safe

if TYPE_CHECKING:
    from contextwright.cli.build import Task
    from contextwright.recipe import Recipe

__all__ = ["add", "asked_of", "context_of", "list_all", "read", "show"]

PAGE, FURTHEST = 128, 1_024
"""Messages looked through at once, and in all, for the time of the newest question."""

LONGEST = 60
"""Characters of a title in a list."""


# --- writing -------------------------------------------------------------------------------------


def add(
    id: str,
    text: str,
    place: str | None,
    tenant: str,
    *,
    role: Role,
    author: str | None,
    key: str | None,
    replace: bool,
) -> int:
    """Store one message and print its number."""
    words = text_given(text)
    message = Message(role, (Text(words),), None if author is None else Author(author))
    changes = ()
    if replace:
        (message,), changes = mended([message])
    with opened(place, tenant=tenant) as store:
        say(" ".join(map(str, store.conversation(id).add(message, key))))
    for change in changes:
        note(f"cw: {change}")
    return 0


# --- reading -------------------------------------------------------------------------------------


def list_all(place: str | None, tenant: str, *, as_json: bool) -> int:
    """Print the conversations in the order in which they were made."""
    with existing(place, tenant=tenant) as store:
        found = list(store.list())
    if as_json:
        say_json(found)
    elif found:
        head = ("conversation", "messages", "title", "agent", "forked from")
        say(table([head, *map(row_of, found)]))
    else:
        note("cw: no conversations")
    return 0


def row_of(details: Details) -> tuple[str, ...]:
    """A conversation as a row; a cell is one line, whatever a title holds."""
    fork = "" if details.parent is None else f"{details.parent} at {details.fork_at:,}"
    about = (details.title or "", details.agent or "")
    return (details.id, f"{details.length:,}", *map(shortened, about), fork)


def shortened(text: str) -> str:
    """Words that fit into a table."""
    line = safe(text, line=True)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def read(
    id: str,
    place: str | None,
    tenant: str,
    *,
    first: int | None,
    last: int | None,
    tail: int | None,
    as_json: bool,
) -> int:
    """Print messages by number, as lines for people or for programs."""
    if tail is not None and (first is not None or last is not None):
        raise UsageError("--tail counts from the end", hint="leave out --from and --to")
    with conversation(place, tenant, id, "cw show --format") as chat, written(None) as write:
        stop = None if last is None else last + 1
        for stored in chat.read(first or 0, stop) if tail is None else chat.tail(tail):
            if as_json:
                write(msgspec.json.encode(stored) + b"\n")
            else:
                say(as_lines(stored))
    return 0


def as_lines(stored: Stored) -> str:
    """A message under its number; no line of its content stands at the margin."""
    message = stored.message
    author = f" {message.author.label}" if message.author else ""
    head = safe(f"{stored.seq:>6} {message.role}{author}{remarks(message)}:", line=True)
    lines = [line for words in words_of(message) for line in words.split("\n")]
    return "\n       ".join([f"{head} {lines[0]}".rstrip() if lines else head, *lines[1:]])


def words_of(message: Message) -> Iterator[str]:
    """What the parts of a message say."""
    for part in message.parts:
        match part:
            case Text() | ToolResult():
                yield part.text
            case ToolCall():
                yield f"{part.name}({json_text(part.arguments)})"
            case _:
                yield f"[{type(part).__name__.lower()}]"


def show(id: str, place: str | None, tenant: str, **look: Any) -> int:
    """Print a conversation of the store as people read it."""
    with conversation(place, tenant, id, "--format") as chat:
        found = conversation_of(chat.store, chat.details())
    inspect.print_one(found, **look)
    return 0


# --- contexts ------------------------------------------------------------------------------------


def context_of(
    task: Task, id: str, *, at: int | None = None, now: datetime | None = None
) -> Context:
    """The request for a conversation of the store, after its last message or an earlier one."""
    with conversation(task.place, task.tenant, id, "--from") as chat:
        recipe, asked = asked_of(task, chat, at=at, now=now)
        return chat.context(recipe, **asked, at=at)


def asked_of(
    task: Task, chat: Chat, *, at: int | None = None, now: datetime | None = None
) -> tuple[Recipe, dict[str, Any]]:
    """The recipe and all else that a request for a conversation hangs on."""
    frame = frame_of(chat.details())
    spoken = {**frame.reply_tools, **task.recipe.reply_tools}
    return msgspec.structs.replace(task.recipe, reply_tools=spoken), {
        "model": task.model,
        "format": task.format,
        "tools": frame.tools if task.tools is None else task.tools,
        "now": now or task.now or question_time(newest_first(chat, at)),
        "budget": task.budget,
    }


def newest_first(chat: Chat, at: int | None) -> Iterator[Message]:
    """The last messages before a moment, backwards, as far as anyone asks."""
    last = chat.length() if at is None else at
    for stop in range(last, max(last - FURTHEST, 0), -PAGE):
        page = list(chat.read(max(stop - PAGE + 1, 1), stop + 1))
        yield from (stored.message for stored in reversed(page))


def question_time(messages: Iterable[Message]) -> datetime | None:
    """When the first of some messages came that has a user's words and a time."""
    times = (message.time for message in messages if message.role == "user" and message.sent_at)
    return next(times, None)
