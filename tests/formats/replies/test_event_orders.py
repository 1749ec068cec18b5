"""Streams that writers make of parts of any kinds and in any order, read again."""

import json
from collections.abc import Iterator
from itertools import product, zip_longest

import pytest
from msgspec.structs import replace

import contextwright as cw
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
    Usage,
    UsageUpdate,
)
from contextwright.formats.replies.reply import gather_partial
from contextwright.formats.replies.streams import stream_reader, write_stream
from golden_files import compare_digests

APIS = ("anthropic", "gemini", "openai-chat", "openai-responses")
USAGE = Usage(input=100, output=20, cached=30, written=40, reasoning=5)
REFUSAL = {"openai-chat": {"refusal": True}, "openai-responses": {"refusal": True}}
CUSTOM = {"openai-chat": {"type": "custom"}, "openai-responses": {"type": "custom_tool_call"}}


def parts(n: int) -> dict[str, tuple[Event, ...]]:
    """The events of every kind of part, as number `n` of a reply."""
    hi, hm = TextDelta(n, "Hi. "), ThinkingDelta(n, "Hm.")
    call, custom = cw.ToolCall("f", {"a": 1}, "c1"), cw.ToolCall("g", {"input": "x"}, "c2")
    custom = replace(custom, extra=CUSTOM)
    searched = cw.Opaque("anthropic", {"type": "server_tool_use", "id": "s1"}, "searched")
    return {
        "text": (hi, hi, PartEnd(n, cw.Text("Hi. Hi. "))),
        "text at once": (PartEnd(n, cw.Text("Hi.")),),
        "text without an end": (hi,),
        "no text": (TextDelta(n, ""), PartEnd(n, cw.Text(""))),
        "refusal": (TextDelta(n, "No.", refusal=True), PartEnd(n, cw.Text("No.", REFUSAL))),
        "refusal at once": (PartEnd(n, cw.Text("No.", REFUSAL)),),
        "thinking": (hm, hm, PartEnd(n, cw.Thinking("Hm.Hm."))),
        "signed thinking": (
            hm,
            SignatureDelta(n, "c2ln"),
            PartEnd(n, cw.Thinking("Hm.", "c2ln", "anthropic", "m")),
        ),
        "thinking at once": (PartEnd(n, cw.Thinking("Hm.", "c2ln", "gemini", "m")),),
        "thinking in a field": (
            ThinkingDelta(n, "Hm.", "openai-chat/reasoning"),
            PartEnd(n, cw.Thinking("Hm.", extra={"openai-chat": {"reasoning": "Hm."}})),
        ),
        "hidden thinking": (PartEnd(n, cw.Thinking("", "c2ln", "anthropic", "m", redacted=True)),),
        "signed text": (hi, PartEnd(n, cw.Text("Hi. ", {"gemini": {"thoughtSignature": "c2ln"}}))),
        "call": (
            CallStart(n, "f", "c1"),
            ArgumentsDelta(n, '{"a": '),
            ArgumentsDelta(n, "1}"),
            PartEnd(n, call),
        ),
        "call at once": (PartEnd(n, call),),
        "call without an end": (CallStart(n, "f", "c1"), ArgumentsDelta(n, '{"a": ')),
        "call without an id": (CallStart(n, "f"), PartEnd(n, cw.ToolCall("f", {}))),
        "custom call": (
            CallStart(n, "g", "c2", custom=True, extra=CUSTOM),
            ArgumentsDelta(n, "x"),
            PartEnd(n, custom),
        ),
        "picture": (PartEnd(n, cw.Media("image", "image/png", "aGk=")),),
        "block": (PartEnd(n, searched),),
    }


BREAK = ErrorEvent(ReplyError("overloaded", "Busy.", 529, "overloaded_error", 3))
ENDS: tuple[Finish, ...] = (
    Finish("stop", usage=USAGE),
    Finish("tool_calls", extra={"openai-chat": {"service_tier": "flex", "own": 1}}),
    Finish("length", "max_tokens", message_extra={"openai-chat": {"annotations": [1]}}),
    Finish("refusal", refusal=" ", message_extra={"openai-chat": {"refusal": " "}}),
    Finish("interrupted", "cut off"),
    Finish("other", "PROHIBITED", extra={"gemini": {"promptFeedback": {"blockReason": "X"}}}),
)


def written_and_read(events: tuple[Event, ...], api: str) -> list[object]:
    stream = b"".join(write_stream(events, api, model="m", id="7"))
    reader = stream_reader(api)
    read: list[Event] = []
    for frame in stream.split(b"\n\n"):
        data = frame.partition(b"data: ")[2]
        read += reader.feed(json.loads(data)) if data.startswith(b"{") else []
    return [stream.decode(), read, reader.close()]


def replies() -> Iterator[tuple[tuple[str, str, int], tuple[Event, ...]]]:
    """Two parts of any kinds, one after the other and in turns, with any end."""
    kinds = product(parts(0).items(), parts(1).items())
    for number, ((one, first), (other, second)) in enumerate(kinds):
        end = ENDS[number % len(ENDS)]
        between = UsageUpdate(USAGE) if number % 3 else ReplyStart("r9", "big", Usage(input=7))
        yield (one, other, 1), (between, *first, *second, end)
        turns = [event for both in zip_longest(first, second) for event in both if event]
        yield (one, other, 2), (*turns, *((BREAK,) if number % 5 == 0 else ()), end)


@pytest.mark.parametrize("api", APIS)
def test_what_becomes_of_parts_in_any_order(api: str) -> None:
    found = ((given, written_and_read(events, api)) for given, events in replies())
    compare_digests(f"events-{api}", found)


def test_what_is_gathered_of_parts_in_any_order() -> None:
    found = ((given, gather_partial(events, "anthropic")) for given, events in replies())
    compare_digests("events", found)
