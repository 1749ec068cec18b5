"""Characters that a stream sends in two halves, because it cuts text by UTF-16 code units."""

from __future__ import annotations

import re

import msgspec

from contextwright.formats.replies.events import (
    ArgumentsDelta,
    CallStart,
    Event,
    Finish,
    PartEnd,
    TextDelta,
    ThinkingDelta,
)
from contextwright.formats.rules.surrogates import LOST, mend
from contextwright.messages.changes import Change
from contextwright.text.json import convert, encode_json, whole_characters

__all__ = ["Halves"]

replace = msgspec.structs.replace

HALF = re.compile("[\ud800-\udfff]").search
FIRST_HALF = re.compile(r"[\ud800-\udbff]\Z").search

Delta = TextDelta | ThinkingDelta | ArgumentsDelta


class Halves:
    """Joins the halves of characters in the events of one stream; what stays half is U+FFFD."""

    def __init__(self) -> None:
        self.waiting: dict[int, Delta] = {}
        """For each part the first half of a character, until the next piece has the second."""
        self.changes: list[Change] = []

    def joined(self, events: list[Event]) -> list[Event]:
        """Return events whose texts can all be encoded."""
        if not (self.waiting or self.changes or any(map(has_half, events))):
            return events
        out: list[Event] = []
        for event in events:
            if isinstance(event, Delta):
                out.extend(self._piece(event))
                continue
            if type(event) is PartEnd:
                out.extend(self._rest(event.index))
            elif type(event) is Finish:
                out.extend(rest for index in [*self.waiting] for rest in self._rest(index))
                event = replace(event, changes=(*event.changes, *self.changes))
            out.append(self._mended(event) if has_half(event) else event)
        return out

    def _piece(self, event: Delta) -> list[Event]:
        """Return a piece of a part without the half at its end, which waits for the next one."""
        before = self.waiting.pop(event.index, None)
        text = event.text if before is None else before.text + event.text
        if FIRST_HALF(text):
            self.waiting[event.index] = replace(event, text=text[-1])
            text = text[:-1]
        return [replace(event, text=whole_characters(text))] if text else []

    def _rest(self, index: int) -> list[Event]:
        """Return the half for which no other came."""
        waiting = self.waiting.pop(index, None)
        return [replace(waiting, text=whole_characters(waiting.text))] if waiting else []

    def _mended(self, event: Event) -> Event:
        """Return an event that is no piece of a part, without halves."""
        place = f"parts[{event.index}]" if isinstance(event, PartEnd | CallStart) else "reply"
        changes: list[Change] = []
        mended = convert(mend(msgspec.to_builtins(event), place, changes), type(event))
        self.changes += [one for one in changes if one.reason == LOST]
        return mended


def has_half(event: Event) -> bool:
    """Whether half a character is in an event."""
    if isinstance(event, Delta):
        return not event.text.isascii() and HALF(event.text) is not None
    try:
        encode_json(event)
    except UnicodeEncodeError:
        return True
    return False
