"""`cw append-stream` and `cw dump`: what programs outside rely on.

`append-stream` takes what has arrived on standard input as one group: while one group is being
made durable the next one gathers in the pipe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, cast

import msgspec
from msgspec import Struct

from contextwright.changes import Change
from contextwright.cli.output import note, numbered, written
from contextwright.cli.store import opened
from contextwright.documents import LINE_LIMIT, decode, standard_input, too_large
from contextwright.errors import ContextwrightError, ParseError, shown
from contextwright.messages import Message, Text, ToolResult
from contextwright.store.engine import Sync
from contextwright.store.hygiene import mended
from contextwright.store.records import Stored, Turn

__all__ = ["append_stream", "dump", "run_plain"]

CHUNK = 2**20


def run_plain(arguments: Sequence[str]) -> int | None:
    """Run a stream from plainly spelled arguments; None if they need the parser or its help."""
    name, *rest = arguments
    words: list[str] = []
    options: dict[str, str] = {}
    while rest:
        argument = rest.pop(0)
        option, equals, value = argument.partition("=")
        if option in ("--store", "--sync", "--tenant") and (equals or rest):
            options[option] = value if equals else rest.pop(0)
        elif argument == "--replace":
            options[argument] = ""
        elif argument.startswith("-"):
            return None
        else:
            words.append(argument)
    place, tenant = options.get("--store"), options.get("--tenant", "")
    if name == "dump" and len(words) == 1 and options.keys() <= {"--store", "--tenant"}:
        return dump(words[0], place, tenant)
    sync = options.get("--sync", "full")
    if name == "append-stream" and not words and (sync == "full" or sync == "fast"):
        return append_stream(place, tenant, sync=sync, replace="--replace" in options)
    return None


# --- append-stream -------------------------------------------------------------------------------


class Line(Struct):
    """One line of input on its way: the turn it asks for, or why it is none."""

    key: Any
    turn: Turn | None = None
    changes: tuple[Change, ...] = ()
    error: ContextwrightError | None = None

    def answer(self) -> bytes:
        """What is said about it, once it is durable or refused."""
        if self.error is not None:
            return msgspec.json.encode({"error": str(self.error), "key": self.key}) + b"\n"
        said = {"changes": [str(change) for change in self.changes]} if self.changes else {}
        return msgspec.json.encode({"ack": self.key, **said}) + b"\n"


def append_stream(place: str | None, tenant: str, *, sync: Sync, replace: bool) -> int:
    """Store a turn for each line, and answer each once it is durable."""
    failed = 0
    with opened(place, sync=sync, tenant=tenant) as store, written(None) as write:
        for group in groups_of_lines(standard_input()):
            lines = [as_line(data, number, replace=replace) for number, data in group]
            sound = [line for line in lines if line.turn is not None]
            outcomes = store.add_each([cast("Turn", line.turn) for line in sound])
            for line, outcome in zip(sound, outcomes, strict=True):
                line.error = outcome if isinstance(outcome, ContextwrightError) else None
            failed += sum(line.error is not None for line in lines)
            write(b"".join(line.answer() for line in lines))
    if failed:
        note(f"cw: {numbered(failed, 'line')} failed (see the error lines in the output)")
    return 1 if failed else 0


def groups_of_lines(stream: BinaryIO) -> Iterator[list[tuple[int, bytes | ParseError]]]:
    """All whole lines that have arrived, again and again, each with its number."""
    number, pieces, length = 0, list[bytes](), 0
    while True:
        chunk = cast("Any", stream).read1(CHUNK)
        group: list[tuple[int, bytes | ParseError]] = []
        *ends, rest = chunk.split(b"\n") if chunk else [b"", b""]
        for end in ends:
            number += 1
            line = b"".join((*pieces, end)) if length <= LINE_LIMIT else b""
            if length + len(end) > LINE_LIMIT:
                group.append((number, too_large("line", LINE_LIMIT, line=number)))
            elif line.strip():
                group.append((number, line))
            pieces, length = [], 0
        length += len(rest)
        if length <= LINE_LIMIT:
            pieces.append(rest)
        else:
            pieces.clear()  # too long already: read on without keeping it
        if group:
            yield group
        if not chunk:
            return


def as_line(data: bytes | ParseError, number: int, *, replace: bool) -> Line:
    """What a line asks for."""
    line = Line(None)
    try:
        if isinstance(data, ParseError):
            raise data
        body = decode(data, first_line=number)
        if not isinstance(body, dict):
            raise ParseError(f"a turn is an object, not {shown(body)}", line=number)
        fields = cast("dict[str, Any]", body)
        line.key = fields.get("key")
        messages, changes = messages_of(fields.get("messages"), number)
        if replace:
            messages, mends = mended(messages)
            changes = (*changes, *mends)
        turn = Turn(cast("str", fields.get("conversation")), messages, line.key)
        line.turn, line.changes = turn, changes
    except ContextwrightError as error:
        line.error = error
    except RecursionError:
        line.error = ParseError("nested too deeply", line=number)
    return line


def messages_of(data: Any, number: int) -> tuple[list[Message], tuple[Change, ...]]:
    """Messages with `parts` as we write them, others as Chat Completions does."""
    if not isinstance(data, list):
        raise ParseError("a turn has a list of messages", path="messages", line=number)
    items = cast("list[Any]", data)
    ours = any(isinstance(item, dict) and "parts" in item for item in items)
    from contextwright import api  # only who writes has to wait for the formats

    conversation = api.parse(items, "contextwright" if ours else "openai-chat")
    return list(conversation.messages), conversation.changes


# --- dump ----------------------------------------------------------------------------------------


def dump(conversation: str, place: str | None, tenant: str) -> int:
    """Print each message as a line of JSON."""
    with opened(place, tenant=tenant) as store, written(None) as write:
        for stored in store.conversation(conversation).read():
            write(msgspec.json.encode(as_fields(stored)) + b"\n")
    return 0


def as_fields(stored: Stored) -> dict[str, Any]:
    """A message for programs that look for words; nothing is said twice."""
    message = stored.message
    texts = [part.text for part in message.parts if isinstance(part, Text | ToolResult)]
    fields: dict[str, Any] = {
        "seq": stored.seq,
        "key": stored.key,
        "role": message.role,
        "text": "\n".join(texts),
        "calls": [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in message.calls
        ],
        "answers": [result.call_id for result in message.results],
    }
    for name in ("author", "sent_at", "turn"):
        fields[name] = getattr(message, name)
    for name, usual in (("kind", "message"), ("visibility", "public"), ("pinned", False)):
        fields[name] = None if getattr(message, name) == usual else getattr(message, name)
    always = ("seq", "key", "role", "text")
    return {name: value for name, value in fields.items() if value or name in always}
