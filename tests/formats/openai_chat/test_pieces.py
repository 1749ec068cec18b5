"""A content that arrives as lists of pieces, as Mistral's models think and answer."""

from itertools import groupby
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.formats.replies.events import TextDelta, ThinkingDelta
from contextwright.formats.replies.streams import read_stream, write_reply, write_stream

JSON = dict[str, Any]
WORDS = st.text("ab é", min_size=1, max_size=4)
KINDS = st.sampled_from(("text", "thinking", "bare"))


def chunk(delta: JSON, finish: str | None = None) -> JSON:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "model": "magistral-medium-latest", "choices": [choice]}


def piece(kind: str, text: str) -> Any:
    match kind:
        case "thinking":
            return {"type": "thinking", "thinking": [{"type": "text", "text": text}]}
        case "text":
            return {"type": "text", "text": text}
        case _:
            return text


@given(st.lists(st.tuples(KINDS, WORDS), min_size=1, max_size=8))
def test_pieces_in_a_row_are_one_part_and_nothing_is_lost(pieces: list[tuple[str, str]]) -> None:
    given = [piece(*one) if one[0] == "bare" else [piece(*one)] for one in pieces]
    sent = [chunk({"role": "assistant", "content": ""})]
    sent += [*(chunk({"content": one}) for one in given), chunk({}, "stop")]
    rows = groupby(pieces, lambda one: one[0] == "thinking")
    expected = [(thinks, "".join(text for _, text in row)) for thinks, row in rows]
    reply = cw.parse_stream(sent, "openai-chat")
    said = [
        (isinstance(part, cw.Thinking), getattr(part, "text", "")) for part in reply.answer.parts
    ]
    blank = [(thinks, text) for thinks, text in expected if thinks or text.strip()]
    assert [one for one in said if one[0] or one[1].strip()] == blank
    events = [*read_stream(sent, "openai-chat")]
    for kind, thinks in ((TextDelta, False), (ThinkingDelta, True)):
        came = "".join(one.text for one in events if isinstance(one, kind))
        assert came == "".join(text for kind_of, text in expected if kind_of is thinks)


SENT: list[Any] = [
    chunk({"role": "assistant", "content": [piece("thinking", "Is it ")]}),
    chunk({"content": [{**piece("thinking", "wet?"), "closed": True}]}),
    chunk({"content": [piece("text", "It ")]}),
    chunk({"content": "rains."}),
    chunk({}, "stop"),
]


@pytest.mark.parametrize("format", ["anthropic", "gemini", "openai-chat", "openai-responses"])
def test_thinking_in_the_content_reaches_every_client(format: str) -> None:
    stream = [b"".join(write_stream(read_stream(SENT, "openai-chat"), format))]
    reply = cw.parse_stream(SENT, "openai-chat")
    for got in (
        cw.parse_stream(stream, format),
        cw.parse_reply(write_reply(reply, format).body, format),
    ):
        thoughts = [part.text for part in got.answer.parts if isinstance(part, cw.Thinking)]
        assert thoughts == ["Is it wet?"]
        assert got.answer.text == "It rains."


@pytest.mark.parametrize("content", [[5], [None, "x"], [{}], [[]], [{"type": "thinking"}]])
def test_pieces_of_no_kind_are_refused_or_kept(content: list[Any]) -> None:
    try:
        reply = cw.parse_stream([chunk({"content": content}), chunk({}, "stop")], "openai-chat")
    except cw.ParseError:
        return
    assert reply.message.parts
