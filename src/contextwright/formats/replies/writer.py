"""Writing a stream: the part that all providers share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias, get_args

from contextwright.errors import UsageError, require, shown
from contextwright.formats.replies.beside import name_losses
from contextwright.formats.replies.events import (
    ArgumentsDelta,
    CallStart,
    ErrorEvent,
    Event,
    Finish,
    PartEnd,
    ReplyStart,
    SignatureDelta,
    TextDelta,
    ThinkingDelta,
    UsageUpdate,
)
from contextwright.formats.replies.parts import carried_part, own_extra, set_apart
from contextwright.formats.replies.sse import encode_event
from contextwright.messages.changes import Change
from contextwright.messages.parts import Opaque, Part, Text
from contextwright.text.json import UNFIT

__all__ = ["Frame", "InOrder", "StreamWriter", "StreamWriters", "require_names"]


DELTAS = (TextDelta, ThinkingDelta, ArgumentsDelta)
EVENTS = get_args(Event)


class Frame(NamedTuple):
    """One server-sent event: decoded data, and its name if it has one."""

    data: Any
    name: str | None = None

    def encode(self) -> bytes:
        """Encode the event."""
        return encode_event(self.data, self.name)


def require_names(model: str, id: str | None, created: int) -> None:
    """Raise for names and a time that no reply can have.

    Raises:
        UsageError: one of them has the wrong type, or holds half a surrogate pair.
    """
    require(created, int, "created", "pass seconds")
    for name, value in (("model", model), ("id", id or "")):
        require(value, str, name)
        if UNFIT.search(value):
            raise UsageError(f"{name} cannot be {shown(value)}", hint="NUL and halves of pairs")


class StreamWriter:
    """Writes one stream: our events in, the provider's events out.

    `changes` lists what the format could not carry. Time and ids are passed in: `id` is used if the
    stream has none, `created` is in seconds.
    """

    format: str

    def __init__(self, model: str = "", *, id: str | None = None, created: int = 0) -> None:
        require_names(model, id, created)
        self.model = model
        self.id = id
        self.created = created
        self.changes: list[Change] = []
        self.started = False
        self.said = ""
        """The last piece of text."""
        self.out: list[Frame] = []

    def write(self, event: Event) -> list[Frame]:
        """Return the provider's events for one of ours.

        Raises:
            UsageError: it is not one of our events.
        """
        require(event, EVENTS, "an event")
        if type(event) is ReplyStart:
            self.id = self.id or event.id
            self.model = self.model or event.model or ""
        if not self.started and type(event) is not ErrorEvent:
            self.started = True
            self.start(event if type(event) is ReplyStart else ReplyStart(self.id, self.model))
        if type(event) in DELTAS:  # nearly all of a stream
            if type(event) is TextDelta:
                self.said = event.text or self.said
            self.put(event)
        else:
            for ready in self.translated(event):
                self.put(ready)
        frames, self.out = self.out, []
        return frames

    def translated(self, event: Event) -> Iterator[Event]:
        """Yield the event; another provider's block becomes its text, if it has any."""
        if type(event) is PartEnd and isinstance(event.part, Opaque):
            part = self.carried(event)
            if isinstance(part, Text):
                part = Text(set_apart(part.text, self.said, self.format))
                self.said = part.text
                yield TextDelta(event.index, part.text)
            if part is not None:
                yield PartEnd(event.index, part)
        elif type(event) is not ReplyStart:
            if type(event) is Finish:
                own_extra(event.message_extra, "message", self.format, self.changes)
                name_losses(event, self.format, self.changes)
            yield event

    def start(self, event: ReplyStart) -> None:
        """Write the events that open a stream."""
        raise NotImplementedError

    def put(self, event: Event) -> None:
        """Write any event after the first."""
        raise NotImplementedError

    def carried(self, event: PartEnd) -> Part | None:
        """Convert the part that ends for this format; record losses."""
        return carried_part(event.part, event.index, self.format, self.id or "", self.changes)


PartEvent: TypeAlias = (
    TextDelta | ThinkingDelta | SignatureDelta | CallStart | ArgumentsDelta | PartEnd
)
StreamWriters: TypeAlias = Callable[..., StreamWriter]


class InOrder:
    """Reorders events so that one part ends before the next begins.

    Some providers interleave parallel calls, others allow one open part at a time. The deltas of a
    later part wait until the earlier one has ended.
    """

    def __init__(self) -> None:
        self.open: int | None = None
        self.waiting: dict[int, list[PartEvent]] = {}

    def pass_on(self, event: Event) -> Iterator[Event]:
        """Yield the events that may be written now."""
        if isinstance(event, Finish | UsageUpdate | ErrorEvent | ReplyStart):
            yield event
            return
        if self.open is not None and event.index != self.open:
            self.waiting.setdefault(event.index, []).append(event)
            return
        ready: list[PartEvent] = [event]
        while ready:
            for piece in ready:
                self.open = None if type(piece) is PartEnd else piece.index
                yield piece
            nobody = self.open is None and self.waiting
            ready = self.waiting.pop(next(iter(self.waiting))) if nobody else []
