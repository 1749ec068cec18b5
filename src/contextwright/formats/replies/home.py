"""The calls of a stream under the client's own tool names, whatever the provider was sent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from uuid import uuid4

from msgspec.structs import replace

from contextwright.formats.replies.events import ArgumentsDelta, CallStart, Event, PartEnd
from contextwright.formats.replies.reply import custom_input, is_custom
from contextwright.formats.tools import (
    at_home,
    flat_names,
    name_at_home,
    own_arguments,
    tools_by_name,
)
from contextwright.messages.conversation import Conversation
from contextwright.messages.parts import ToolCall
from contextwright.wire.gemini.types import STAND_IN

__all__ = ["HomeCalls"]

GEMINI = "gemini"
FITS = re.compile(r"[A-Za-z0-9_-]{1,40}").fullmatch
"""Ids that every API accepts."""


class HomeCalls:
    """Gives each call of a stream the name and kind that its tool has in the client's request.

    A call whose id some API would refuse gets a new one.

    `tool_names` is that of the `Rendered` request: the names it sent → the tools' own. `answers` is
    the format of the answer; a client of Gemini gets Google's stand-in for the signature that
    others do not give, because Gemini refuses its calls without one if it is asked next.
    """

    def __init__(
        self, request: Conversation, tool_names: Mapping[str, str], answers: str = GEMINI
    ) -> None:
        self._names = tool_names
        self._tools = tools_by_name(request)
        self._flat = flat_names(request.tools)
        self._source = request.source or ""
        self._held: dict[int, Callable[[ToolCall], str]] = {}
        """The parts whose arguments are held back, and what the client gets in the end.

        It expects free text, or its own names of the arguments.
        """
        self._ids: dict[int, str] = {}
        self._signs = self._source == GEMINI != answers

    def pass_on(self, event: Event) -> Iterator[Event]:
        """Yield the events to send for one event."""
        if type(event) is CallStart:
            yield self._start(event)
        elif type(event) is ArgumentsDelta and event.index in self._held:
            return
        elif type(event) is PartEnd and isinstance(event.part, ToolCall):
            id = self._ids.get(event.index, event.part.id)
            call = self._at_home(replace(event.part, id=id))
            if self._signs and event.index == next(iter(self._ids), event.index):
                call = with_stand_in(call)
            if event.index in self._held:
                yield ArgumentsDelta(event.index, self._held.pop(event.index)(call))
            yield PartEnd(event.index, call)
        else:
            yield event

    def _start(self, event: CallStart) -> CallStart:
        # The client sends the result under this id, and the gateway finds the call's signature by
        # it.
        id = event.id if event.id and FITS(event.id) else f"call_{uuid4().hex}"
        self._ids[event.index] = id
        call = self._at_home(ToolCall(event.name, {"input": ""}, id, extra=event.extra))
        custom = event.custom or is_custom(call)
        if custom and not event.custom:
            self._held[event.index] = custom_input
        elif not custom and own_arguments(self._tools.get(call.name)):
            self._held[event.index] = arguments_of
        return replace(event, id=id, name=call.name, custom=custom, extra=call.extra)

    def _at_home(self, call: ToolCall) -> ToolCall:
        name = name_at_home(call, self._names, self._flat)
        return at_home(call, name, self._tools.get(name), self._source)


def with_stand_in(call: ToolCall) -> ToolCall:
    """Return a call with the stand-in for a signature; one that is signed stays."""
    own = {"thoughtSignature": STAND_IN, **call.extra.get(GEMINI, {})}
    return replace(call, extra={**call.extra, GEMINI: own})


def arguments_of(call: ToolCall) -> str:
    """Return the arguments of a call as JSON."""
    return call.json
