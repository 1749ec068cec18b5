"""A stream that has arrived whole is read as one that arrives event by event."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import contextwright as cw
from contextwright.formats.replies.events import (
    ArgumentsDelta,
    Event,
    TextDelta,
    ThinkingDelta,
)
from contextwright.formats.replies.reader import joined, read_batches
from contextwright.formats.replies.reply import ModelReply, events_of, gather_partial
from contextwright.formats.replies.streams import read_stream, stream_reader, stream_writer
from contextwright.formats.replies.whole import read_whole
from strategies.replies import JSON, REPLIES

per_format = pytest.mark.parametrize("format", REPLIES)


def in_small_pieces(events: Iterator[Event]) -> Iterator[Event]:
    for event in events:
        if isinstance(event, TextDelta | ThinkingDelta | ArgumentsDelta):
            yield from (replace(event, text=letter) for letter in event.text)
        else:
            yield event


def frames_of(reply: ModelReply, format: str) -> list[bytes]:
    writer = stream_writer(format, created=7)
    events = in_small_pieces(events_of(reply))
    return [frame.encode() for event in events for frame in writer.write(event)]


async def events_of_batches(pieces: list[bytes], format: str) -> list[Event]:
    async def source() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    batches = read_batches(source(), stream_reader(format), join=True)
    return [event async for batch in batches for event in batch]


@per_format
def test_a_whole_stream_is_read_like_its_events(format: str) -> None:
    @given(REPLIES[format], st.data())
    def law(body: JSON, data: st.DataObject) -> None:
        frames = frames_of(cw.parse_reply(body, format), format)
        for _ in range(data.draw(st.integers(0, 4))):  # events that are lost, doubled, moved
            place = data.draw(st.integers(0, max(len(frames) - 1, 0)))
            taken = frames[place : place + 1]
            rest = frames[:place] + frames[place + 1 :]
            again = data.draw(st.integers(0, len(rest)))
            frames = data.draw(
                st.sampled_from((rest, frames + taken, rest[:again] + taken + rest[again:]))
            )
        stream = b"".join(frames)
        ends = st.sampled_from((len(stream), len(stream.rstrip(b"\n"))))
        stream = stream[: data.draw(st.integers(0, len(stream)) | ends)]
        expected = gather_partial(read_stream([stream], format), format)
        assert read_whole(stream, format) == expected
        at = data.draw(st.integers(0, len(stream)))
        pieces = [stream[:at], stream[at:]]
        assert gather_partial(asyncio.run(events_of_batches(pieces, format)), format) == expected

    law()


CHUNK = {"id": "c", "model": "m", "object": "chat.completion.chunk"}


@pytest.mark.parametrize(
    ("format", "event"),
    [
        (
            "anthropic",
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": "a"},
            },
        ),
        (
            "openai-responses",
            {
                "type": "response.output_text.delta",
                "output_index": 0,
                "content_index": 0,
                "delta": "a",
            },
        ),
        ("openai-chat", {**CHUNK, "choices": [{"index": 0, "delta": {"content": "a"}}]}),
    ],
)
def test_pieces_of_one_text_become_one(format: str, event: JSON) -> None:
    reader = stream_reader(format)
    assert len(list(joined([event] * 5, reader))) == 1
    assert len(list(joined([event, {"type": "ping"}, event], reader))) == 3


@pytest.mark.parametrize("format", REPLIES)
@given(
    event=st.recursive(
        st.none() | st.booleans() | st.text(max_size=3),
        lambda one: (
            st.lists(one, max_size=2)
            | st.dictionaries(
                st.sampled_from(("type", "delta", "index", "choices", "content", "usage", "text")),
                one,
                max_size=4,
            )
        ),
    )
)
def test_events_of_any_shape_are_left_to_the_reader(format: str, event: object) -> None:
    assert stream_reader(format).slot_of_text(event) is None or isinstance(event, dict)
