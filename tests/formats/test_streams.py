"""Laws of replies and streams, in all four dialects and between them."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import contextwright as cw
from contextwright.formats.replies.events import (
    ArgumentsDelta,
    CallStart,
    Event,
    Finish,
    PartEnd,
    SignatureDelta,
    TextDelta,
    ThinkingDelta,
)
from contextwright.formats.replies.reply import (
    ModelReply,
    events_of,
    gather,
    gather_partial,
    is_custom,
    is_refusal,
)
from contextwright.formats.replies.streams import (
    read_stream,
    read_stream_async,
    stream_reader,
    stream_writer,
    write_reply,
    write_stream,
)
from paths import DOCS
from strategies.replies import JSON, REPLIES, others_in

FORMATS = tuple(REPLIES)
per_format = pytest.mark.parametrize("format", FORMATS)
per_pair = pytest.mark.parametrize(
    ("source", "target"), [(one, other) for one in FORMATS for other in FORMATS if one != other]
)


def streamed(reply: ModelReply, format: str) -> bytes:
    return b"".join(write_stream(events_of(reply), format, created=7))


def cut(data: bytes, places: Iterable[int]) -> Iterator[bytes]:
    start = 0
    for end in sorted({place % (len(data) + 1) for place in places}):
        yield data[start:end]
        start = end
    yield data[start:]


@per_format
def test_a_reply_written_and_read_again_is_the_same(format: str) -> None:
    @given(REPLIES[format])
    def law(body: JSON) -> None:
        reply = cw.parse_reply(body, format)
        written = write_reply(reply, format, created=7)
        assert written.changes == ()
        assert cw.parse_reply(written.body, format) == reply

    law()


@per_format
def test_a_reply_streamed_and_read_again_is_the_same(format: str) -> None:
    @given(REPLIES[format])
    def law(body: JSON) -> None:
        reply = cw.parse_reply(body, format)
        events = list(read_stream([streamed(reply, format)], format))
        assert gather(events, format) == reply
        assert cw.parse_stream([streamed(reply, format)], format) == reply

    law()


@per_format
def test_a_whole_reply_in_place_of_a_stream_is_read_like_one(format: str) -> None:
    """Some hosts do not stream, although they are asked to."""

    @given(REPLIES[format], st.lists(st.integers(0, 10_000), max_size=30))
    def law(body: JSON, places: list[int]) -> None:
        reply = cw.parse_reply(body, format)
        data = msgspec.json.encode(write_reply(reply, format, created=7).body)
        assert gather(read_stream(cut(data, places), format), format) == reply

    law()


@per_format
def test_any_cutting_gives_the_same_events(format: str) -> None:
    @given(REPLIES[format], st.lists(st.integers(0, 10_000), max_size=30))
    def law(body: JSON, places: list[int]) -> None:
        data = streamed(cw.parse_reply(body, format), format)
        whole = list(read_stream([data], format))
        assert list(read_stream(cut(data, places), format)) == whole
        assert list(read_stream((data[i : i + 1] for i in range(len(data))), format)) == whole
        for spelled in (
            data.replace(b"\n", b"\r\n"),
            data.replace(b"\n", b"\r"),
            re.sub(rb"(?m)^data: ", b"data:", data),
            re.sub(rb"(?m)^(?=data: )", b": still here\nid: 7\n", data),
            data.replace(b"\n\n", b"\n\ndata: \n\n"),
            data.rstrip(b"\n"),  # a last event that no blank line ends
        ):
            assert list(read_stream(cut(spelled, places), format)) == whole

        async def source() -> AsyncIterator[bytes]:
            for piece in cut(data.rstrip(b"\n"), places):
                yield piece

        async def read() -> list[Event]:
            return [event async for event in read_stream_async(source(), format)]

        assert asyncio.run(read()) == whole
        assert cw.parse_stream([data.rstrip(b"\n")], format) == gather(whole, format)

    law()


@given(REPLIES["gemini"], st.lists(st.integers(0, 10_000), max_size=30))
def test_a_json_array_is_read_like_server_sent_events(body: JSON, places: list[int]) -> None:
    reply = cw.parse_reply(body, "gemini")
    writer = stream_writer("gemini")
    chunks = [frame.data for event in events_of(reply) for frame in writer.write(event)]
    data = msgspec.json.encode(chunks).replace(b"},{", b"},\r\n{") if chunks else b"[]"
    assert gather(read_stream(cut(data, places), "gemini"), "gemini") == reply


@per_format
def test_pieces_make_up_their_parts(format: str) -> None:
    @given(REPLIES[format])
    def law(body: JSON) -> None:
        pieces: dict[int, dict[type, str]] = {}
        begun: list[int] = []
        ended = False
        for event in read_stream([streamed(cw.parse_reply(body, format), format)], format):
            assert not ended
            match event:
                case TextDelta(index, text) | ThinkingDelta(index, text):
                    held = pieces.setdefault(index, {})
                    held[type(event)] = held.get(type(event), "") + text
                case ArgumentsDelta(index, text) | SignatureDelta(index, text):
                    held = pieces.setdefault(index, {})
                    held[type(event)] = held.get(type(event), "") + text
                case CallStart(index):
                    begun.append(index)
                case PartEnd(index, part):
                    check_pieces(part, pieces.get(index, {}), index in begun)
                case Finish():
                    ended = True
                case _:
                    pass
        assert ended

    law()


def check_pieces(part: Any, pieces: dict[type, str], begun: bool) -> None:
    if isinstance(part, cw.Text):
        assert pieces.get(TextDelta, "") == part.text
    elif isinstance(part, cw.Thinking):
        assert pieces.get(ThinkingDelta, "") == part.text
        assert pieces.get(SignatureDelta, "") == (part.signature or "")
    elif isinstance(part, cw.ToolCall):
        assert begun
        given = pieces.get(ArgumentsDelta, "")
        if is_custom(part):
            assert given == part.arguments["input"]
        else:
            assert (msgspec.json.decode(given) if given else {}) == part.arguments


@per_format
def test_a_break_leaves_what_came(format: str) -> None:
    @given(REPLIES[format], st.integers(0, 10_000))
    def law(body: JSON, place: int) -> None:
        data = streamed(cw.parse_reply(body, format), format)
        place %= len(data)

        def source() -> Iterator[bytes]:
            yield data[:place]
            raise ConnectionResetError("reset by peer")

        events = list(read_stream(source(), format))
        finish = events[-1]
        assert isinstance(finish, Finish)
        broken = gather(events, format)
        assert isinstance(broken.message, cw.Message)
        if finish.reason in ("error", "interrupted"):
            assert broken.message.parts
            assert broken.message.meta["finish"] == finish.reason
            assert "repair.interrupted" in [change.code for change in broken.changes]
        whole = cw.parse_reply(body, format).message
        before = "".join(p.text for p in whole.parts if isinstance(p, cw.Text))
        came = "".join(event.text for event in events if isinstance(event, TextDelta))
        assert before.startswith(came) or finish.reason not in ("error", "interrupted")

    law()


@per_format
def test_a_stream_that_nobody_read_to_its_end_keeps_what_came(format: str) -> None:
    """Stopped after any event: the pieces read so far, and nothing else."""

    @given(REPLIES[format], st.integers(0, 60))
    def law(body: JSON, number: int) -> None:
        whole = list(read_stream([streamed(cw.parse_reply(body, format), format)], format))
        assert gather_partial(whole, format) == gather(whole, format)
        seen = whole[:number]
        reply = gather_partial(seen, format)
        if any(isinstance(event, Finish) for event in seen):
            return
        assert reply.finish == "interrupted"
        came = [event.text for event in seen if isinstance(event, TextDelta)]
        ended = {event.index: event.part for event in seen if isinstance(event, PartEnd)}
        if not reply.answer.parts:  # blank text: a line in its place tells why there is no answer
            assert all(isinstance(part, cw.Text) for part in ended.values())
            assert not "".join(came).strip()
            return
        texts = [part.text for part in reply.answer.parts if isinstance(part, cw.Text)]
        assert sum(map(len, texts)) == sum(map(len, came))
        assert set(map(id, ended.values())) <= set(map(id, reply.answer.parts))

    law()


@per_pair
def test_a_stream_crosses_piece_by_piece(source: str, target: str) -> None:
    """The same words, thoughts and calls arrive, with each text piece written at once."""

    @settings(max_examples=max(settings().max_examples // 4, 1))
    @given(REPLIES[source])
    def law(body: JSON) -> None:
        reply = cw.parse_reply(body, source)
        writer = stream_writer(target, "m")
        data = b""
        for event in read_stream([streamed(reply, source)], source):
            data += b"".join(frame.encode() for frame in writer.write(event))
        crossed = gather(read_stream([data], target), target)
        assert spoken(crossed) == spoken(reply)
        assert thoughts(crossed) == thoughts(reply)
        assert calls(crossed) == calls(reply)
        assert crossed.usage is not None
        assert reply.usage is not None
        assert (crossed.usage.input, crossed.usage.output) == (
            reply.usage.input,
            reply.usage.output,
        )
        assert written_alike(crossed, reply)
        whole = write_reply(reply, target, model="m")
        for changes in (writer.changes, whole.changes):
            lost = " ".join(change.reason for change in changes if change.path == "reply")
            assert all(name in lost for name in others_in(body, source))
        again = cw.parse_reply(whole.body, target)
        assert (spoken(again), thoughts(again), calls(again)) == (
            spoken(reply),
            thoughts(reply),
            calls(reply),
        )
        assert said(crossed) == said(again)
        assert crossed.answer.extra == again.answer.extra
        held = [part.extra for part in parts_of(crossed) if not isinstance(part, cw.Opaque)]
        ids = [extra.get(target, {}).get("id") for extra in held]
        assert all(id is None or id.startswith(ITEM_IDS) for id in ids)

    law()


ITEM_IDS = ("msg_", "rs_", "fc_", "ctc_")


def said(reply: cw.Conversation) -> list[str]:
    """The text without refusals, and the thoughts, in their order and with their line breaks."""
    parts = [one for one in parts_of(reply) if not (isinstance(one, cw.Text) and is_refusal(one))]
    kinds = (cw.Text, cw.Thinking)
    return ["".join(part.text for part in parts if isinstance(part, kind)) for kind in kinds]


def parts_of(reply: cw.Conversation) -> tuple[Any, ...]:
    return reply.messages[0].parts if reply.messages else ()


def spoken(reply: cw.Conversation) -> str:
    """The characters said in any order: chat has one text, before its refusal."""
    texts = [part.text or "" for part in parts_of(reply) if isinstance(part, cw.Text | cw.Opaque)]
    invented = any(change.code == "invent.text" for change in reply.changes)
    return "" if invented else "".join(sorted("".join(texts).replace("\n", "")))


def thoughts(reply: cw.Conversation) -> str:
    return "".join(p.text for p in parts_of(reply) if isinstance(p, cw.Thinking)).replace("\n", "")


def calls(reply: cw.Conversation) -> list[tuple[str, Any, str | None]]:
    return [
        (part.name, part.arguments, part.id)
        for part in parts_of(reply)
        if isinstance(part, cw.ToolCall)
    ]


ALIKE = {"stop_sequence": "stop", "context": "length", "refusal": "filter", "pause": "stop"}


def written_alike(one: ModelReply, other: ModelReply) -> bool:
    reasons = [ALIKE.get(str(reply.finish), reply.finish) for reply in (one, other)]
    return reasons[0] == reasons[1] or {"filter", "stop"} == set(reasons)


def written(text: str) -> JSON:
    return {
        "id": "msg_1",
        "model": "m",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
    }


def test_the_events_of_a_mixed_chat_stream_wait_for_their_turn() -> None:
    """Pieces of parallel calls that come mixed are written one call after the other."""

    def chunk(number: int, **function: str) -> JSON:
        call: JSON = {"index": number, "function": function}
        if "name" in function:
            call |= {"id": f"c{number}", "type": "function"}
        return {"id": "x", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}

    chunks = [
        chunk(0, name="f", arguments=""),
        chunk(1, name="g", arguments='{"b"'),
        chunk(0, arguments='{"a":1}'),
        chunk(1, arguments=":2}"),
        {"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    ]
    for target in ("anthropic", "openai-responses", "gemini"):
        data = b"".join(write_stream(read_stream(chunks, "openai-chat"), target))
        assert calls(gather(read_stream([data], target), target)) == [
            ("f", {"a": 1}, "c0"),
            ("g", {"b": 2}, "c1"),
        ]


@per_format
def test_the_text_of_events_is_handed_on_at_once(format: str) -> None:
    """A reader gives each piece with the event that brings it, and holds nothing back."""
    writer = stream_writer(format, "m")
    reply = cw.parse_reply(written("one two"), "anthropic")
    start, *_ = events_of(reply)
    reader = stream_reader(format)
    got: list[str] = []
    for event in (start, TextDelta(0, "one "), TextDelta(0, "two")):
        for frame in writer.write(event):
            got += [e.text for e in reader.feed(frame.data) if isinstance(e, TextDelta)]
        if isinstance(event, TextDelta):
            assert got[-1] == event.text
    assert got == ["one ", "two"]


def test_the_page_of_streams_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "streams.md").read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 2
    exec("\n".join(blocks), {})
