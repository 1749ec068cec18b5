"""Replies and streams in which anything may stand anywhere are read and passed on, or refused."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.errors import ContextwrightError
from contextwright.formats.replies.reply import ModelReply, events_of, gather_partial
from contextwright.formats.replies.streams import (
    read_stream,
    stream_writer,
    write_reply,
    write_stream,
)
from contextwright.formats.replies.writer import Frame
from profiles import BODY, examples
from strategies.bodies.junk import mangle
from strategies.replies import REPLIES

FORMATS = tuple(REPLIES)


@st.composite
def mangled(draw: st.DrawFn, format: str) -> Any:
    return mangle(draw, draw(REPLIES[format]))


@st.composite
def streams(draw: st.DrawFn, format: str) -> bytes:
    """The stream of a reply, of which events are mangled, left out, repeated or moved."""
    writer = stream_writer(format, "m", id="id_1", created=7)
    reply = cw.parse_reply(draw(REPLIES[format]), format)
    frames = [frame for event in events_of(reply) for frame in writer.write(event)]
    for _ in range(draw(st.integers(1, 3))):
        place, other = (draw(st.integers(0, len(frames) - 1)) for _ in range(2))
        match draw(st.sampled_from(("mangle", "mangle", "leave out", "repeat", "move"))):
            case "mangle":
                frames[place] = Frame(mangle(draw, frames[place].data), frames[place].name)
            case "leave out" if len(frames) > 1:
                frames.pop(place)
            case "repeat":
                frames.insert(other, frames[place])
            case _:
                frames.insert(other, frames.pop(place))
    return b"".join(map(as_sent, frames))


def as_sent(frame: Frame) -> bytes:
    """An event as another program writes it, halves of surrogates too."""
    name = f"event: {frame.name}\n" if frame.name else ""
    return f"{name}data: {json.dumps(frame.data)}\n\n".encode()


def pass_on(reply: ModelReply) -> Iterator[ModelReply]:
    """A reply as the clients of every API read it, whole and streamed."""
    for target in FORMATS:
        body = write_reply(reply, target, model="m", id="id_1", created=7).body
        yield cw.parse_reply(json.loads(json.dumps(body)), target)
        sent = b"".join(write_stream(events_of(reply), target, model="m", id="id_1", created=7))
        yield gather_partial(read_stream([sent], target), target)


@pytest.mark.parametrize("format", FORMATS)
def test_a_mangled_reply_is_passed_on_or_refused(format: str) -> None:
    @examples(BODY)
    @given(mangled(format))
    def law(body: Any) -> None:
        try:
            reply = cw.parse_reply(body, format)
        except ContextwrightError:
            return
        list(pass_on(reply))

    law()


@pytest.mark.parametrize("format", FORMATS)
def test_a_mangled_stream_is_passed_on_or_refused(format: str) -> None:
    @examples(BODY)
    @given(streams(format))
    def law(sent: bytes) -> None:
        events: list[Any] = []
        with suppress(ContextwrightError):
            events.extend(read_stream([sent], format))
        list(pass_on(gather_partial(events, format)))

    law()


def test_a_text_s_own_role_is_not_its_message_s() -> None:
    text = {"type": "output_text", "text": "Soup.", "annotations": [], "role": None}
    body = {"output": [{"type": "message", "id": "m", "role": "assistant", "content": [text]}]}
    reply = cw.parse_reply(body, "openai-responses")
    [item] = write_reply(reply, "openai-responses").body["output"]
    assert item["role"] == "assistant"
