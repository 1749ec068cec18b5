"""A stream of twice as many events takes twice as many steps to read: steps are counted, not time.

The four readers, on streams that our writers make of every kind of reply.
"""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from contextwright.formats.replies.events import (
    ArgumentsDelta,
    CallStart,
    Event,
    Finish,
    PartEnd,
    ReplyStart,
    TextDelta,
    ThinkingDelta,
)
from contextwright.formats.replies.reader import StreamReader
from contextwright.messages.parts import Text, Thinking, ToolCall
from contextwright.streams import read_stream, stream_reader, stream_writer, write_stream
from steps import count_calls

FORMATS = ("openai-chat", "openai-responses", "anthropic", "gemini")
EVENTS = 150
STEEPEST = 2.2


def words(count: int) -> list[Event]:
    return [*[TextDelta(0, "word ")] * count, PartEnd(0, Text("word " * count))]


def reasoning(count: int) -> list[Event]:
    return [*[ThinkingDelta(0, "hm ")] * count, PartEnd(0, Thinking("hm " * count))]


def arguments(count: int) -> list[Event]:
    pieces = ['{"a":"', *["word "] * count, '"}']
    call = ToolCall.from_json("write", "".join(pieces), id="c")
    return [
        CallStart(0, "write", "c"),
        *[ArgumentsDelta(0, one) for one in pieces],
        PartEnd(0, call),
    ]


def calls(count: int) -> list[Event]:
    return [
        event
        for index in range(count // 3)
        for event in (
            CallStart(index, "write", f"c{index}"),
            ArgumentsDelta(index, '{"a":1}'),
            PartEnd(index, ToolCall("write", {"a": 1}, f"c{index}")),
        )
    ]


def alternation(count: int) -> list[Event]:
    """Reasoning and words in turns, each a part of its own."""
    return [
        event
        for index in range(0, count // 2, 2)
        for event in (
            ThinkingDelta(index, "hm"),
            PartEnd(index, Thinking("hm")),
            TextDelta(index + 1, "so"),
            PartEnd(index + 1, Text("so")),
        )
    ]


REPLIES: dict[str, Callable[[int], list[Event]]] = {
    "words": words,
    "reasoning": reasoning,
    "arguments": arguments,
    "calls": calls,
    "alternation": alternation,
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("reply", REPLIES)
def test_reading_events_is_linear(format: str, reply: str) -> None:
    once, twice = (decoded_events(REPLIES[reply](count), format) for count in (EVENTS, 2 * EVENTS))
    steps = [steps_of(stream_reader(format), events) for events in (once, twice)]
    assert steps[1] <= STEEPEST * steps[0]


@pytest.mark.parametrize("format", FORMATS)
def test_reading_bytes_is_linear(format: str) -> None:
    """However small the pieces are: here a few bytes each."""
    taken: list[int] = []
    for count in (EVENTS, 2 * EVENTS):
        body = b"".join(write_stream(whole(words(count)), format, model="m", id="r"))
        pieces = [body[at : at + 16] for at in range(0, len(body), 16)]
        taken.append(count_calls(lambda pieces=pieces: read_all(pieces, format)))
    assert taken[1] <= STEEPEST * taken[0]


def test_what_is_quadratic_is_found() -> None:
    """The measure itself notices who looks through all events again at each."""

    def quadratic(count: int) -> None:
        for number in range(count):
            for _ in range(number):
                len("")

    taken = [count_calls(lambda count=count: quadratic(count)) for count in (EVENTS, 2 * EVENTS)]
    assert taken[1] > 3 * taken[0]


def whole(events: Iterable[Event]) -> list[Event]:
    return [ReplyStart("r", "m"), *events, Finish("stop")]


def decoded_events(events: Iterable[Event], format: str) -> list[Any]:
    writer = stream_writer(format, "m", id="r")
    return [frame.data for event in whole(events) for frame in writer.write(event)]


def steps_of(reader: StreamReader, events: list[Any]) -> int:
    def read() -> None:
        for event in events:
            reader.feed(event)
        reader.close()

    return count_calls(read)


def read_all(pieces: list[bytes], format: str) -> None:
    for _ in read_stream(pieces, format):
        pass
