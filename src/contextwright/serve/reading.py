"""Bodies of requests, read: what a client has sent before is not read again.

A client sends its whole history with every request. What is spelt byte for byte as in the request
before is taken from the reading of that one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise, takewhile
from operator import eq
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from contextwright import formats
from contextwright.errors import ContextwrightError, ParseError
from contextwright.formats import api
from contextwright.formats.rules.surrogates import LOST
from contextwright.lru import LruCache
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.messages.message import Message
from contextwright.messages.parts import Part, Text
from contextwright.store.rows.recorded.places import Trail
from contextwright.text.json import decode_json, decoder

__all__ = [
    "Reading",
    "Readings",
    "decode_turns",
    "read_fields",
    "repairs_in",
    "turns_of",
    "with_whole_answers",
]

MAX_BYTES = 8 << 20
"""Bytes of bodies whose readings are remembered; those longest unused are forgotten."""

SYSTEM = ("system", "systemInstruction", "system_instruction")
TOOLS = ("tools", "functions")
BLANK = b" \t\r\n"

ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F]|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
"""Finds escapes in JSON, and among them those of half a character without the other half."""
REPLACEMENT = rb"\ufffd"

decode_fields = decoder(dict[str, Raw]).decode
decode_turns = decoder(list[Raw]).decode


class Reading(Struct):
    """A request, read."""

    payload: dict[str, Any]
    said: Conversation
    """The client's conversation."""
    fields: Mapping[str, Raw]
    """The fields of the body as they are spelt."""
    turns: Sequence[Raw]
    """The turns as they are spelt; none in a format that does not read them one by one."""
    known_trail: Trail | None = None
    """A trail that may lead here: of a request before this one, until it is asked for."""
    size: int = 0
    """The bytes that it holds: of the body, and of the one in which its first turns came."""

    @property
    def trail(self) -> Trail:
        """The places of what was said."""
        messages, known = self.said.messages, self.known_trail
        if known is None or not known.leads_to(messages):
            known = Trail("")
        self.known_trail = known.followed_by(messages[len(known.messages) :])
        return self.known_trail


class Readings:
    """Reads requests, and remembers the last of each client, session and model."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._known = LruCache[tuple[str, ...], Reading](max_bytes)

    def read(self, line: tuple[str, ...], format: str, fields: Mapping[str, Raw]) -> Reading:
        """Read a request; `line` is what the requests of one history have in common.

        Raises:
            ParseError: it cannot be read.
        """
        before = self._known.pop(line)
        try:
            reading = read(format, fields, before)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise ParseError(f"the body is not JSON: {error}") from error
        self._known.put(line, reading, reading.size)
        return reading


def read_fields(body: bytes) -> dict[str, Raw]:
    """Return the fields of a body, unread; half a character in it is U+FFFD.

    Raises:
        ParseError: the body is not a JSON object.
    """
    try:
        body.decode()  # because what is left unread may not be UTF-8
        return decode_fields(body)
    except msgspec.ValidationError:
        raise ParseError("the body is not a JSON object") from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        if repairs_in(body):
            return read_fields(with_whole_characters(body))
        raise ParseError(f"the body is not JSON: {error}") from error


def repairs_in(body: bytes) -> tuple[Change, ...]:
    """Return what is mended where a body is read: JavaScript may cut a character in half."""
    found = body.find(b"\\ud") >= 0 or body.find(b"\\uD") >= 0
    is_mended = found and with_whole_characters(body) != body
    return (Change("repair.surrogate", "body", LOST),) if is_mended else ()


def with_whole_characters(body: bytes) -> bytes:
    """Return JSON with U+FFFD instead of each half of a character."""
    return ESCAPE.sub(lambda found: REPLACEMENT if found["half"] else found[0], body)


def read(format: str, fields: Mapping[str, Raw], before: Reading | None) -> Reading:
    """Read a request; what the one before spells the same is taken from it."""
    name = formats.find(format).turns
    turns, shared = turns_in(fields, name, before)
    payload: dict[str, Any] = {}
    for field, raw in fields.items():
        if before is not None and before.fields.get(field) == raw:
            payload[field] = before.payload[field]
        elif before is not None and field == name and shared:
            rest = [decode_json(turn) for turn in turns[shared:]]
            payload[field] = [*before.payload[field][:shared], *rest]
        else:
            payload[field] = decode_json(raw)
    said = None if before is None or not shared else resumed(format, payload, before, shared)
    trail = None if before is None else before.known_trail
    size = 2 * sum([memoryview(raw).nbytes for raw in fields.values()])
    return Reading(payload, said or api.parse(payload, format), fields, turns, trail, size)


def turns_in(
    fields: Mapping[str, Raw], name: str | None, before: Reading | None
) -> tuple[Sequence[Raw], int]:
    """Return the turns of a body, unread, and how many of them the one before begins with too.

    There are none if they are not a list.
    """
    if name is None or name not in fields:
        return [], 0
    known = () if before is None else before.turns
    rest = added(bytes(fields[name]), bytes(before.fields[name])) if before and known else None
    if rest is not None:
        return [*known, *decode_turns(rest)], len(known)
    try:
        turns = decode_turns(fields[name])
    except msgspec.ValidationError:
        return [], 0
    return turns, len(list(takewhile(bool, map(eq, turns, known))))


def added(turns: bytes, others: bytes) -> bytes | None:
    """Return the list of what a list has behind all of another; None if they differ before that."""
    shared = others[:-1].rstrip(BLANK)
    if not turns.startswith(shared):
        return None
    rest = turns[len(shared) :].lstrip(BLANK)
    return b"[" + rest[1:] if rest.startswith(b",") else None


def resumed(
    format: str, payload: dict[str, Any], before: Reading, shared: int
) -> Conversation | None:
    """Return what was said, with the first turns and perhaps the tools of the request before.

    None if the whole request must be read: a repair names its place in it.
    """
    if before.said.changes or payload.get("model") != before.payload.get("model"):
        return None
    try:
        if formats.find(format).last_start is None:
            return with_known_turns(format, payload, before, shared)
        return with_known_items(format, payload, before, shared)
    except ContextwrightError:
        return None


def with_known_turns(
    format: str, payload: dict[str, Any], before: Reading, shared: int
) -> Conversation | None:
    """Return what was said in a format of which each turn is a message."""
    name = turns_of(format)
    rest = {**payload, name: payload[name][shared:]}
    same_system = all(payload.get(field) is before.payload.get(field) for field in SYSTEM)
    same_tools = payload.get("tools") and all(
        payload.get(field) is before.payload.get(field) for field in TOOLS
    )
    for field in (*(SYSTEM if same_system else ()), *(TOOLS if same_tools else ())):
        rest.pop(field, None)
    new = api.parse(rest, format)
    if new.changes:
        return None
    # The system text stands before the turns.
    start = len(new.messages) - len(rest[name])
    earlier = len(before.said.messages) - len(before.turns)
    known = before.said.messages[0 if same_system else earlier : earlier + shared]
    messages = (*new.messages[:start], *known, *new.messages[start:])
    return replace(new, messages=messages, tools=before.said.tools if same_tools else new.tools)


def with_known_items(
    format: str, payload: dict[str, Any], before: Reading, shared: int
) -> Conversation | None:
    """Return what was said in a format of which several items may be one message (Responses)."""
    name, last_start = turns_of(format), formats.find(format).last_start
    assert last_start is not None
    if payload.get("tools") is not before.payload.get("tools"):
        return None  # the names of all calls may change with them
    # Where the request before went on otherwise, its last message may not end with the last item.
    most = shared if shared == len(before.turns) else shared - 1
    cut = last_start(payload[name], most)
    if not cut:
        return None
    new = api.parse({**payload, name: payload[name][cut:]}, format)
    if new.changes:
        return None
    unknown = before.payload[name][cut:]
    behind = len(api.parse({name: unknown}, format).messages) if unknown else 0
    start, earlier = (int(one.get("instructions") is not None) for one in (payload, before.payload))
    known = before.said.messages[earlier : len(before.said.messages) - behind]
    return replace(new, messages=(*new.messages[:start], *known, *new.messages[start:]))


def turns_of(format: str) -> str:
    """Return the field of a format's turns."""
    name = formats.find(format).turns
    assert name is not None
    return name


def with_whole_answers(said: Conversation) -> Conversation:
    """Return what a client of Gemini said, with every answer in one message.

    Chats of Google's SDKs send an answer back in the pieces in which it was streamed, each as a
    turn of its own. Other APIs would take its calls for calls one after another.
    """
    roles = [message.role for message in said.messages]
    if said.source != "gemini" or ("assistant", "assistant") not in pairwise(roles):
        return said
    messages: list[Message] = []
    for role, run in groupby(said.messages, lambda message: message.role):
        first, *others = run
        if others and role == "assistant":
            pieces = [part for message in (first, *others) for part in message.parts]
            messages.append(first.with_parts(with_whole_texts(pieces)))
        else:
            messages += (first, *others)
    return replace(said, messages=tuple(messages))


def with_whole_texts(pieces: Sequence[Part]) -> list[Part]:
    """Return parts with the pieces of each text in one; one that has fields of its own stays."""
    whole: list[Part] = []
    for piece in pieces:
        last = whole[-1] if whole else None
        if isinstance(piece, Text) and isinstance(last, Text) and piece == Text(piece.text):
            whole[-1] = replace(last, text=last.text + piece.text)
        else:
            whole.append(piece)
    return whole
