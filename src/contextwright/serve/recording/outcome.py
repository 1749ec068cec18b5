"""How a request ended: its answer, read as far as possible and made ready for the store."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from contextwright.ask.record import price_of
from contextwright.errors import ContextwrightError, ParseError
from contextwright.formats import api
from contextwright.formats.replies.failures import read_error
from contextwright.formats.replies.reply import ModelReply
from contextwright.formats.replies.usage import UNCOUNTED
from contextwright.formats.replies.whole import read_whole
from contextwright.formats.tools import restore_calls
from contextwright.messages.changes import Change
from contextwright.messages.conversation import Conversation
from contextwright.models import as_model
from contextwright.providers.secrets import masked
from contextwright.serve.bodies import decompressed
from contextwright.serve.calls import Call
from contextwright.serve.history.continuations import (
    PREVIOUS,
    Continuations,
    answer_digest,
    id_of,
    is_continuable,
)
from contextwright.serve.reading import Readings, read_fields, repairs_in
from contextwright.serve.sessions import agent_of
from contextwright.serve.translate import Crossing
from contextwright.store.recording import EndedRequest, line_of
from contextwright.store.requests import RecordedRequest, RequestBodies, RequestState
from contextwright.store.rows.recorded.signatures import SignedAnswer
from contextwright.text.json import decode_object, decoder, encode_json, with_whole_characters

__all__ = ["Outcome", "Transcript", "ended_request", "without_keys"]

Value = TypeVar("Value")

MAX_REPLY_BYTES = 64 << 20
"""The size of an answer that came compressed; a longer one is not kept."""
STREAM = re.compile(rb"\A\s*\[|(?:\A|[\r\n]|\xef\xbb\xbf)data:")
"""Finds the beginning of Gemini's list, or an event: others may answer with a page of HTML."""
EVENT_ENDS = (b"\n\n", b"\r\n\r\n", b"\r\r")
NOT_KEPT = Change("loss.reply", "reply", "the recorder had too much to write; it was not kept")


class Outcome(Struct):
    """The facts about an answer that are known without reading it."""

    status: int | None = None
    started_ns: int = 0
    """When the request came, in nanoseconds since 1970."""
    encoding: str = ""
    error: str = ""
    """Why there is no answer, by its kind."""
    first_byte: float | None = None
    seconds: float = 0.0
    whole: bool = False
    """The answer came to its end, and the client took all of it."""
    broken_off: bool = False
    """The upstream broke off in the middle of the answer."""


class Transcript(Struct, frozen=True, kw_only=True):
    """A request and its answer as bytes, and what was known of them on the way."""

    call: Call
    record: RecordedRequest
    outcome: Outcome
    request: bytes
    """The client's body without keys."""
    reply: bytes | None
    """None if there was no room to keep it."""
    crossing: Crossing | None
    """The translated request; None if the client's own body was sent."""
    signed: SignedAnswer | None
    """The signed parts of the answer, which the client cannot send back."""
    keys: frozenset[str]
    """Keys that must not be stored, wherever they stand."""
    owner: str


def as_spelled(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request that stay as the client wrote them, whatever it goes on from.

    A tool that is written in another order would look like another tool.
    """
    return {name: value for name, value in payload.items() if name not in ("input", PREVIOUS)}


def ended_request(
    transcript: Transcript, readings: Readings, continuations: Continuations
) -> EndedRequest:
    """Read a request and its answer, and make them ready for the store."""
    call, outcome, record = transcript.call, transcript.outcome, transcript.record
    crossing = transcript.crossing
    # Everything that is stored is read from what is left without keys.
    plain, lost = plain_reply(transcript)
    sent = (None if crossing is None else crossing.body, plain)
    upstream, answer = (body and masked(body, transcript.keys) for body in sent)
    hidden = RequestBodies(transcript.request, upstream, answer)
    is_masked = (transcript.request, upstream, answer) != (call.body, *sent)
    said, payload = read_history(transcript, readings, continuations, is_masked=is_masked)
    reply = read_reply(call.format, outcome, answer or b"")
    if reply is not None and said is not None:
        reply = restore_calls(reply, said)
    read_as = repairs_in(call.body) if crossing is None and said is not None else ()
    state, error = state_of(outcome, reply, answer)
    counted = all(change.code != UNCOUNTED.code for change in record.changes)
    usage = reply.usage if reply is not None and counted else None
    prices = as_model(record.sent_model).prices
    record = replace(
        record,
        state=state,
        status=outcome.status,
        error=error,
        finish=(reply and reply.finish) or "",
        first_byte=outcome.first_byte and round(outcome.first_byte, 4),
        seconds=round(outcome.seconds, 4),
        messages=0 if said is None else len(said.messages),
        toolset="" if said is None else toolset_of(said, agent_of(call)),
        request_bytes=len(call.body),
        reply_bytes=len(transcript.reply or b""),
        usage=usage,
        price=None if usage is None else price_of(usage, prices),
        changes=(*record.changes, *read_as, *lost),
        masked=is_masked,
    )
    record = without_keys(record, transcript.keys)
    name = message = None
    if reply is not None and state == "answered" and call.action == "generate":
        message = reply.answer
        if said is not None:
            name = remembered(transcript, said, reply, continuations)
    ended = EndedRequest(
        record=record,
        bodies=hidden,
        payload=payload or {},
        owner=transcript.owner,
        agent=agent_of(call),
        said=said,
        reply=without_keys(message, transcript.keys) if message and message.parts else None,
        signed=unless_key(transcript.signed, transcript.keys),
        answer=name,
    )
    return without_content(ended) if record.redacted else ended


def read_history(
    transcript: Transcript, readings: Readings, continuations: Continuations, *, is_masked: bool
) -> tuple[Conversation | None, dict[str, Any] | None]:
    """Read the whole history of a request, and the payload that the upstream goes by."""
    call, crossing = transcript.call, transcript.crossing
    said, payload = (None, None) if crossing is None else (crossing.said, crossing.payload)
    if is_masked or said is None:
        said, read = read_request(transcript, readings)
        payload = payload or read
    if said is not None:
        continuations.recall_passed_on(transcript.owner, said, transcript.record.number)
        new, said = said, continuations.whole(transcript.owner, said, elsewhere=True)
        if said is not new and crossing is None:  # the upstream reads the whole history
            whole = api.render(said, call.format, model=as_model(call.model)).payload
            payload = {**whole, **as_spelled(payload or {})}
    return said, payload


def plain_reply(transcript: Transcript) -> tuple[bytes | None, list[Change]]:
    """Return an answer without compression, in which a key could hide, and what of it is lost."""
    if transcript.reply is None:
        return None, [NOT_KEPT]
    encoding = transcript.outcome.encoding
    try:
        return decompressed(transcript.reply, encoding, MAX_REPLY_BYTES, may_be_cut=True), []
    except ParseError as error:
        return b"", [replace(NOT_KEPT, reason=f"it cannot be read: {error}")]
    except ContextwrightError as error:
        return None, [replace(NOT_KEPT, reason=str(error))]


def remembered(
    transcript: Transcript, said: Conversation, reply: ModelReply, continuations: Continuations
) -> str | None:
    """Remember an answer from which its client may go on; return its name in the store.

    None if the client cannot, or knows it by an id of ours.
    """
    continuations.keep(transcript.owner, said, reply, len(transcript.call.body))
    if transcript.crossing is not None or not is_continuable(said) or not id_of(reply):
        return None
    return answer_digest(transcript.owner, id_of(reply))


def toolset_of(said: Conversation, agent: str) -> str:
    """Return a digest of the names of the tools, and of whose they are; empty if there are none.

    Agents that work side by side in a session often have the same tools.
    """
    names = sorted([getattr(tool, "name", "") for tool in said.tools])
    if not names:
        return ""
    owned = [*names, f"\n{agent}"] if agent else names
    return blake2b("\n".join(owned).encode(), digest_size=8).hexdigest()


def without_content(ended: EndedRequest) -> EndedRequest:
    """Return a request with its figures only."""
    changes = tuple(replace(change, reason="") for change in ended.record.changes)
    record = replace(ended.record, changes=changes)
    return EndedRequest(
        record=record, bodies=RequestBodies(), payload=ended.payload, owner=ended.owner
    )


def without_keys(value: Value, keys: frozenset[str]) -> Value:
    """Return a value that holds no key, also where a stream brought one in pieces."""
    encoded = encode_json(value)
    hidden = masked(encoded, keys)
    return value if hidden == encoded else decoder(type(value)).decode(hidden)


def unless_key(signed: SignedAnswer | None, keys: frozenset[str]) -> SignedAnswer | None:
    """Return a signed answer; None if it holds a key."""
    return None if signed is None or without_keys(signed, keys) is not signed else signed


def read_request(
    transcript: Transcript, readings: Readings
) -> tuple[Conversation | None, dict[str, Any] | None]:
    """Return what a client said, and the payload in which it said it; None for the unreadable."""
    call, body = transcript.call, transcript.request
    line = line_of(transcript.record, transcript.owner)
    try:
        fields = call.fields if body is call.body else read_fields(body)
        reading = readings.read(line, call.format, fields)
    except ContextwrightError:
        return None, with_whole_characters(decode_object(body))
    return reading.said, reading.payload


def read_reply(format: str, outcome: Outcome, body: bytes) -> ModelReply | None:
    """Return an answer as a client of a format reads it; None for an error or unreadable bytes."""
    if not body or outcome.error or (outcome.status or 200) >= 300:
        return None
    try:
        whole = body if outcome.whole else whole_events(body)
        if whole.lstrip().startswith(b"{"):
            value = decode_object(whole)
            return None if value is None else api.parse_reply(value, format)
        return read_whole(whole, format) if STREAM.search(whole) else None
    except (ContextwrightError, msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def whole_events(body: bytes) -> bytes:
    """Return what came of a stream of events without the last one, if that is cut off.

    Half an event would look like an answer that cannot be read.
    """
    start = body.lstrip()[:1]
    ended = max(body.rfind(end) + len(end) if end in body else 0 for end in EVENT_ENDS)
    return body if start in (b"{", b"[") else body[:ended]


def state_of(
    outcome: Outcome, reply: ModelReply | None, body: bytes | None
) -> tuple[RequestState, str]:
    """Return how a request ended, and the kind of its error; `body` is None if it was not kept.

    Some clients, such as Codex, close the connection at the last event, and not at its end.
    """
    if outcome.broken_off:
        return "interrupted", ""
    if outcome.error:
        return "failed", outcome.error
    if (outcome.status or 200) >= 300:
        return "failed", read_error(outcome.status or 500, {}, body or b"").kind
    if reply is not None and reply.error is not None:
        return "failed", reply.error.kind
    if not outcome.whole if reply is None else reply.finish == "interrupted":
        return "interrupted", ""
    if reply is None and body is not None:  # bytes that nobody can read, or none, as with 204
        return "failed", "server"
    return "answered", ""
