"""Reading a stream: the part that all providers share."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Iterator
from contextlib import aclosing
from itertools import groupby
from typing import Any, TypeAlias, cast

from msgspec.structs import replace

from contextwright.errors import ParseError, ProviderError, in_one_line
from contextwright.formats.reader import Reader
from contextwright.formats.replies.events import (
    ArgumentsDelta,
    CallStart,
    ErrorEvent,
    Event,
    Finish,
    PartEnd,
    ReplyError,
    ReplyStart,
    SignatureDelta,
    TextDelta,
    ThinkingDelta,
    slot_of,
)
from contextwright.formats.replies.failures import BAD_GATEWAY
from contextwright.formats.replies.halves import Halves
from contextwright.formats.replies.reply import CUT_OFF, ModelReply, deltas_of, gather, part_of
from contextwright.formats.replies.sse import Decoder
from contextwright.messages.parts import Part, Text, Thinking, ToolCall
from contextwright.wire.values import Object, is_object

__all__ = [
    "StreamReader",
    "StreamReaders",
    "as_object",
    "broken",
    "joined",
    "read",
    "read_async",
    "read_batches",
    "stream_parser",
]


class StreamReader:
    """Reads one stream: decoded provider events in, our events out as soon as they are known.

    A provider's reader implements `take` (one event), `end` (close the parts still open) and
    `finish` (how the reply ended).
    """

    format: str

    def __init__(self) -> None:
        self.reader = Reader(self.format, strict=False)
        self.out: list[Event] = []
        self.halves = Halves()
        self.started = False
        self.finished = False
        self.error: ReplyError | None = None
        self.indices: dict[object, int] = {}
        self.kinds: dict[int, type[Part]] = {}
        """The kind of each part, by its first delta."""
        self.begun: set[int] = set()
        self.argued: set[int] = set()
        """The calls of which arguments were sent."""
        self.ended: dict[int, Part] = {}
        self.strays: dict[int, list[Event]] = {}
        """Deltas of another kind than the part they were sent for."""

    def feed(self, event: Any) -> list[Event]:
        """Read one provider event: decoded JSON, or an SDK object.

        Raises:
            ParseError: a part is not valid.
        """
        if not self.finished:
            self.take(event)
        return self.handed_over()

    def close(self, error: ReplyError | None = None) -> list[Event]:
        """End the stream, after its last event or where it was interrupted."""
        if error is not None and not self.finished:
            self.fail(error)
        self.complete()
        return self.handed_over()

    def handed_over(self) -> list[Event]:
        """Return the events since the last call; raise recorded errors."""
        if self.reader.faults:
            self.reader.finish()
        events, self.out = self.out, []
        return self.halves.joined(events)

    # --- for the providers' readers --------------------------------------------------------------

    def take(self, event: Any) -> None:
        """Read one event."""
        raise NotImplementedError

    def end(self) -> None:
        """Close the parts that are still open."""
        raise NotImplementedError

    def finish(self) -> Finish:
        """Return how the reply ended, as far as the events say."""
        raise NotImplementedError

    def slot_of_text(self, event: Any) -> object:
        """Return what an event adds text to, if it does nothing else; None if it does.

        Events in a row with the same slot may be read as one (`joined`).
        """
        return None

    def joined(self, events: list[Any]) -> Any:
        """Return events of one slot as one that brings all of their text."""
        raise NotImplementedError

    def start(self, event: ReplyStart) -> None:
        """Begin the reply, once."""
        if not self.started:
            self.started = True
            self.out.append(event)

    def fail(self, error: ReplyError) -> None:
        """Note an error, which is reported when all parts have ended."""
        self.error = error

    def complete(self) -> None:
        """Finish the reply, once."""
        if self.finished:
            return
        self.start(ReplyStart())
        self.end()
        for index, deltas in self.strays.items():
            if index not in self.ended:
                self.out.append(PartEnd(index, part_of(deltas, self.format, None)))
        if self.error is not None:
            self.reader.faults.clear()  # the reply has failed: what is wrong with it was reported
        finish = self.finish()
        if self.error is not None and not self.ended and finish.reason not in CUT_OFF:
            finish = replace(finish, reason="error")  # nothing of the answer could be read
        if self.error is not None:
            self.out.append(ErrorEvent(self.error))
        self.finished = True
        self.out.append(finish)

    def index(self, slot: object) -> int:
        """Return the index of a part; indices are assigned in the order in which parts begin."""
        return self.indices.setdefault(slot, len(self.indices))

    def index_of(self, slot: object, kind: type[Part]) -> int:
        """Return the index of a part of a kind. A slot that holds two kinds becomes two parts."""
        index = self.index(slot)
        if self.kinds.setdefault(index, kind) is kind:
            return index
        return self.index_of((slot, kind), kind)

    def text(self, slot: object, text: str, *, refusal: bool = False, place: str = "") -> None:
        """Send a piece of text."""
        if text:
            own = slot_of(self.format, place)
            self.delta(slot, TextDelta(self.index_of(slot, Text), text, refusal, own))

    def thinking(self, slot: object, text: str, place: str = "") -> None:
        """Send a piece of reasoning."""
        if text:
            own = slot_of(self.format, place)
            self.delta(slot, ThinkingDelta(self.index_of(slot, Thinking), text, own))

    def call(self, slot: object, start: Callable[[int], CallStart]) -> None:
        """Begin a call, once."""
        index = self.index_of(slot, ToolCall)
        if index not in self.begun:
            self.delta(slot, start(index))

    def arguments(self, slot: object, text: str) -> None:
        """Send a piece of the arguments of a call that has begun; others come with its end."""
        index = self.index_of(slot, ToolCall)
        if text and index in self.begun:
            self.argued.add(index)
            self.delta(slot, ArgumentsDelta(index, text))

    def delta(
        self, slot: object, event: TextDelta | ThinkingDelta | CallStart | ArgumentsDelta
    ) -> None:
        """Send a piece of a part."""
        if event.index != self.index(slot):
            self.strays.setdefault(event.index, []).append(event)
        self.begun.add(event.index)
        self.out.append(event)

    def part(self, slot: object, part: Part, place: str = "") -> None:
        """End a part; first send what none of its deltas carried."""
        index = self.index_of(slot, type(part))
        if self.ended.get(index) == part:
            return
        # Some hosts send arguments as an object, which may grow until the end; Claude sends nothing
        # where there are none, but clients of the others decode what they get.
        unsent = isinstance(part, ToolCall) and index not in self.argued
        for delta in deltas_of(index, part, slot_of(self.format, place)):
            late = type(delta) is SignatureDelta or (unsent and type(delta) is ArgumentsDelta)
            if index not in self.begun or late:
                self.out.append(delta)
        self.begun.add(index)
        self.argued.add(index)
        self.ended[index] = part
        self.out.append(PartEnd(index, part))


StreamReaders: TypeAlias = Callable[[], StreamReader]


def read(source: Iterable[Any], reader: StreamReader) -> Iterator[Event]:
    """Yield the events of a stream, from its bytes in any pieces or its decoded events.

    If the source raises, or is not a stream of this kind, the reply ends as interrupted.
    """
    decoder = Decoder()
    try:
        for piece in source:
            for event in decoded(piece, decoder):
                yield from reader.feed(event)
        for event in decoder.close():
            yield from reader.feed(event)
        last = reader.close()
    except Exception as error:
        last = reader.close(broken(error))
    yield from last


async def read_async(
    source: AsyncIterable[Any], reader: StreamReader
) -> AsyncGenerator[Event, None]:
    """Yield the events of a stream from an asynchronous source."""
    async with aclosing(read_batches(source, reader)) as batches:
        async for batch in batches:
            for event in batch:
                yield event


async def read_batches(
    source: AsyncIterable[Any], reader: StreamReader, *, join: bool = False
) -> AsyncGenerator[list[Event], None]:
    """Yield the events of a stream, those together that one piece of the source completes.

    With `join`, pieces of one text that come together are one event.
    """
    decoder = Decoder()
    batch: list[Event] = []
    try:
        async for piece in source:
            events = decoded(piece, decoder)
            for event in joined(events, reader) if join and len(events) > 1 else events:
                batch.extend(reader.feed(event))
            if batch:
                ready, batch = batch, []
                yield ready
        for event in decoder.close():
            batch.extend(reader.feed(event))
        last = reader.close()
    except Exception as error:
        last = reader.close(broken(error))
    yield [*batch, *last]


def joined(events: list[Any], reader: StreamReader) -> Iterator[Any]:
    """Yield events, those in a row that only add to one text as one."""
    for slot, run in groupby(events, reader.slot_of_text):
        if slot is None:
            yield from run
        else:
            yield reader.joined(list(run))


def decoded(piece: Any, decoder: Decoder) -> list[Any]:
    """Return the provider events that a piece of a stream completes."""
    if isinstance(piece, bytes | bytearray):
        return decoder.feed(bytes(piece))
    return [piece]


def broken(error: Exception) -> ReplyError:
    """Return why a stream could not be read to its end."""
    if isinstance(error, ParseError):
        return ReplyError("server", f"the answer cannot be read: {error}", BAD_GATEWAY)
    if isinstance(error, ProviderError):
        return ReplyError("connection", str(error))
    return ReplyError("connection", in_one_line(error))


def stream_parser(readers: StreamReaders) -> Callable[[Iterable[Any]], ModelReply]:
    """Return a parser of whole streams that runs a reader to its end."""

    def parse_stream(events: Iterable[Any]) -> ModelReply:
        reader = readers()
        decoder = Decoder()
        found: list[Event] = []
        for piece in events:
            for event in decoded(piece, decoder):
                found.extend(reader.feed(event))
        for event in decoder.close():
            found.extend(reader.feed(event))
        found.extend(reader.close())
        return gather(found, reader.format)

    return parse_stream


def as_object(value: Any) -> Object:
    """Return an event as a dict, from decoded JSON or an SDK object; else an empty one."""
    if type(value) is dict:
        return cast("Object", value)
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        value = dump(mode="json", by_alias=True, exclude_unset=True)
    return value if is_object(value) else {}
