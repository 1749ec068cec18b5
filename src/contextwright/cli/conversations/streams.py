"""`cw append-stream` and `cw dump`: the contracts with other programs.

`append-stream` stores all lines that have arrived on standard input as one group. While a group is
made durable, the next one accumulates in the pipe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, BinaryIO, Literal, cast

import msgspec
from msgspec import Struct

from contextwright.cli.options import Conversation, Option, ReplaceInvalid, StoreOptions
from contextwright.cli.output import note, numbered, written
from contextwright.cli.stores import existing, opened
from contextwright.documents.faults import without_bad_text
from contextwright.documents.read import LINE_LIMIT, decode, standard_input, too_large
from contextwright.errors import ContextwrightError, ParseError, shown
from contextwright.messages.changes import Change
from contextwright.messages.message import Message
from contextwright.messages.parts import Text, ToolResult
from contextwright.store.records import StoredMessage, Turn
from contextwright.store.rows.validation import replace_invalid

__all__ = ["append_stream", "as_fields", "dump", "run_plain"]

CHUNK = 2**20


def run_plain(arguments: Sequence[str]) -> int | None:
    """Run a stream command from simple arguments; None if they need the parser."""
    name, *rest = arguments
    words: list[str] = []
    options: dict[str, str] = {}
    while rest:
        argument = rest.pop(0)
        option, equals, value = argument.partition("=")
        if option in ("--store", "--sync", "--tenant") and (equals or rest):
            options[option] = value if equals else rest.pop(0)
        elif argument == "--replace-invalid":
            options[argument] = ""
        elif argument.startswith("-"):
            return None
        else:
            words.append(argument)
    where = StoreOptions(store=options.get("--store"), tenant=options.get("--tenant", ""))
    if name == "dump" and len(words) == 1 and options.keys() <= {"--store", "--tenant"}:
        return dump(words[0], where)
    sync = options.get("--sync", "full")
    if name == "append-stream" and not words and (sync == "full" or sync == "fast"):
        return append_stream(where, sync, "--replace-invalid" in options)
    return None


# --- append-stream -------------------------------------------------------------------------------


class Line(Struct):
    """One line of input: the turn it holds, or the error in it."""

    number: int
    key: Any = None
    turn: Turn | None = None
    changes: tuple[Change, ...] = ()
    error: ContextwrightError | None = None

    def answer(self) -> bytes:
        """Return the line to print once the turn is durable or refused."""
        if self.error is not None:
            return msgspec.json.encode({"error": self.problem(), "key": self.key}) + b"\n"
        extra = {"changes": [str(change) for change in self.changes]} if self.changes else {}
        return msgspec.json.encode({"ack": self.key, **extra}) + b"\n"

    def problem(self) -> str:
        """Return the error, with the number of the line: without a key, nothing else names it."""
        names_line = isinstance(self.error, ParseError) and self.error.line is not None
        return str(self.error) if names_line else f"line {self.number}: {self.error}"


def append_stream(
    where: StoreOptions,
    sync: Annotated[
        Literal["full", "fast"],
        Option(
            "--sync",
            help="Durability on power loss: full loses nothing, fast may lose the last moments.",
        ),
    ] = "full",
    replace_invalid: ReplaceInvalid = False,
) -> int:
    """Store turns from JSON Lines.

    Reads {"conversation": …, "key": …, "messages": [{"role": …, "content": …}]} per line from
    standard input. Prints {"ack": key} once the turn is durable. A key that was stored before is
    acknowledged, and nothing is stored twice. A line that cannot be stored gives
    {"error": …, "key": …}, and the stream continues.

    \b
    cw append-stream --store chat.db < turns.jsonl
    """
    failed = 0
    with opened(where, sync=sync) as store, written(None) as write:
        for group in groups_of_lines(standard_input()):
            lines = [as_line(data, number, replace=replace_invalid) for number, data in group]
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
    """Yield groups of whole lines as they arrive, each line with its number."""
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
    """Read the turn of a line."""
    line = Line(number)
    try:
        if isinstance(data, ParseError):
            raise data
        body, mends = decoded(data, number, replace=replace)
        if not isinstance(body, dict):
            raise ParseError(f"a turn must be an object, not {shown(body)}", line=number)
        fields = cast("dict[str, Any]", body)
        line.key = fields.get("key")
        messages, changes = messages_of(fields.get("messages"), number)
        if replace:
            messages, more = replace_invalid(messages)
            mends = (*mends, *more)
        turn = Turn(cast("str", fields.get("conversation")), messages, line.key)
        line.turn, line.changes = turn, (*changes, *mends)
    except ContextwrightError as error:
        line.error = error
    except RecursionError:
        line.error = ParseError("nested too deeply", line=number)
    return line


def decoded(data: bytes, number: int, *, replace: bool) -> tuple[Any, tuple[Change, ...]]:
    """Decode a line; with `replace` also one with halves of surrogate pairs, which are changes."""
    try:
        return decode(data, first_line=number), ()
    except ParseError:
        data, found = without_bad_text(data) if replace else (data, 0)
        if not found:
            raise
    reason = f"{numbered(found, 'character')} that cannot be stored became U+FFFD"
    return decode(data, first_line=number), (Change("repair.text", "", reason),)


def messages_of(data: Any, number: int) -> tuple[list[Message], tuple[Change, ...]]:
    """Parse messages: those with `parts` as our own format, others as Chat Completions."""
    if not isinstance(data, list):
        raise ParseError("a turn needs a list of messages", path="messages", line=number)
    items = cast("list[Any]", data)
    ours = any(isinstance(item, dict) and "parts" in item for item in items)
    from contextwright.formats import api

    conversation = api.parse(items, "contextwright" if ours else "openai-chat")
    return list(conversation.messages), conversation.changes


# --- dump ----------------------------------------------------------------------------------------


def dump(conversation: Conversation, where: StoreOptions) -> int:
    """Print a conversation as JSON Lines.

    One message per line, in order: {"seq", "key", "role", "text", …}.

    \b
    cw dump lunch --store chat.db
    """
    with existing(where, embedder=None) as store, written(None) as write:
        chat = store.conversation(conversation)
        chat.details()  # dumping a missing conversation is an error, not an empty dump
        for stored in chat.read():
            write(msgspec.json.encode(as_fields(stored)) + b"\n")
    return 0


def as_fields(stored: StoredMessage) -> dict[str, Any]:
    """Return a message as plain fields, without empty ones."""
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
    fields["damaged"] = stored.damage
    always = ("seq", "key", "role", "text")
    return {name: value for name, value in fields.items() if value or name in always}
