"""A stream that cuts characters in half, as programs do that count in UTF-16 code units."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import contextwright as cw
from contextwright.formats.replies.events import ArgumentsDelta, Event, TextDelta, ThinkingDelta
from contextwright.formats.replies.reply import events_of, gather
from contextwright.formats.replies.streams import as_reply, read_stream, stream_writer
from strategies.replies import REPLIES

FORMATS = tuple(REPLIES)
Delta = TextDelta | ThinkingDelta | ArgumentsDelta
TEXTS = st.text(st.sampled_from("aé 😀𝒳\n"), min_size=1, max_size=12)


def cut(event: Event, size: int) -> Iterator[Event]:
    """An event whose text comes in pieces of some UTF-16 code units."""
    if not isinstance(event, Delta):
        yield event
        return
    units = event.text.encode("utf-16-le", "surrogatepass")
    for start in range(0, len(units), 2 * size):
        piece = units[start : start + 2 * size].decode("utf-16-le", "surrogatepass")
        yield replace(event, text=piece)


def sent(events: Iterator[Event], format: str, size: int) -> bytes:
    """A stream as JavaScript writes it, each half as an escape."""
    writer = stream_writer(format, "m", id="id_1", created=7)
    frames = [frame for event in events for one in cut(event, size) for frame in writer.write(one)]
    return "".join(
        (f"event: {frame.name}\n" if frame.name else "")
        + f"data: {frame.data if isinstance(frame.data, str) else json.dumps(frame.data)}\n\n"
        for frame in frames
    ).encode()


@pytest.mark.parametrize("format", FORMATS)
def test_halves_of_characters_are_joined(format: str) -> None:
    @given(TEXTS, TEXTS, TEXTS, st.integers(1, 3))
    def law(thought: str, text: str, argument: str, size: int) -> None:
        call = cw.ToolCall("f", {"a": argument}, id="call_1")
        reply = as_reply(cw.assistant([cw.Thinking(thought), cw.Text(text), call]))
        whole = gather(read_stream([sent(events_of(reply), format, 100)], format), format)
        events = list(read_stream([sent(events_of(reply), format, size)], format))
        assert gather(events, format) == whole
        for kind, said in ((TextDelta, text), (ThinkingDelta, thought)):
            pieces = [event.text for event in events if isinstance(event, kind)]
            assert "".join(pieces) == said

    law()


@pytest.mark.parametrize("format", FORMATS)
def test_half_a_character_alone_is_said(format: str) -> None:
    stream = sent(events_of(as_reply(cw.assistant("Hi \ud83d"))), format, 2)
    reply = cw.parse_stream([stream], format)
    assert reply.message.text == "Hi \ufffd"
    assert [str(change) for change in reply.changes] == [
        "repair.surrogate parts[0].part.text: a lone surrogate became U+FFFD"
    ]


def test_half_a_character_in_a_whole_reply_is_said() -> None:
    message = {"role": "assistant", "content": "Hi \ud83d"}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    for reply in (
        cw.parse_reply(body, "openai-chat"),
        cw.parse_stream([json.dumps(body).encode()], "openai-chat"),
    ):
        assert reply.message.text == "Hi \ufffd"
        assert [(change.code, change.reason) for change in reply.changes] == [
            ("repair.surrogate", "a lone surrogate became U+FFFD")
        ]
