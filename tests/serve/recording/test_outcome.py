"""How a recorded request ended, from what is known of its answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

import contextwright as cw
from contextwright.formats.replies.reply import ModelReply
from contextwright.serve.recording.outcome import Outcome, read_reply, state_of
from fuzzing.readers import reply_to, stream_of
from serve.upstreams import FORMATS

FORMAT = "openai-chat"
BODY, STREAM = reply_to(FORMAT), stream_of(FORMAT)
REPLY = cw.parse_reply(json.loads(BODY), FORMAT)
CUT = b"data: ".join(STREAM.split(b"data: ")[:3])
FAILED = b'{"error": {"type": "server_error", "message": "no"}}'


@pytest.mark.parametrize("body", [BODY, STREAM, b"\n " + BODY])
@pytest.mark.parametrize("status", [None, 200, 299, 300, 400])
def test_what_is_read_of_an_answer(body: bytes, status: int | None) -> None:
    found = read_reply(FORMAT, Outcome(status=status), body)
    parts = found.answer.parts if found else None
    assert parts == (REPLY.answer.parts if status in (None, 200, 299) else None)


def test_what_cannot_be_read_is_no_answer() -> None:
    whole = Outcome(status=200, whole=True)
    assert read_reply(FORMAT, whole, b"") is None
    assert read_reply(FORMAT, whole, b"{") is None
    assert read_reply(FORMAT, Outcome(status=200, error="timeout"), BODY) is None


STATES: list[tuple[dict[str, Any], bytes | None, tuple[str, str]]] = [
    ({"whole": True}, BODY, ("answered", "")),
    ({"whole": True, "status": None}, BODY, ("answered", "")),
    ({"whole": True, "status": 299}, BODY, ("answered", "")),
    ({"whole": True, "status": 300}, BODY, ("failed", "server")),
    ({"whole": True, "status": 429}, FAILED, ("failed", "rate_limit")),
    ({"whole": True}, FAILED, ("failed", "server")),
    ({"whole": True}, STREAM, ("answered", "")),
    ({"whole": True}, CUT, ("interrupted", "")),
    ({"whole": False}, BODY, ("answered", "")),
    ({"whole": False}, STREAM, ("answered", "")),
    ({"whole": False, "broken_off": True}, STREAM, ("interrupted", "")),
    ({"whole": False}, b"{", ("interrupted", "")),
    ({"whole": True}, b"", ("failed", "server")),
    ({"whole": True}, b"<html>The service is busy</html>", ("failed", "server")),
    ({"whole": True}, b"\xef\xbb\xbf" + STREAM, ("answered", "")),
    ({"whole": True}, b"event: ping\r\rdata: {}\r\r", ("interrupted", "")),
    ({"whole": True}, b'{"usage": NaN}', ("failed", "server")),
    ({"whole": True}, BODY + b"garbage", ("failed", "server")),
    ({"whole": True}, BODY.replace(b'"', b'"\xff', 1), ("failed", "server")),
    ({"whole": True}, None, ("answered", "")),
    ({"error": "timeout"}, None, ("failed", "timeout")),
    ({"error": "timeout", "broken_off": True}, None, ("interrupted", "")),
]


@pytest.mark.parametrize(("known", "body", "state"), STATES)
def test_how_a_request_ended(
    known: dict[str, Any], body: bytes | None, state: tuple[str, str]
) -> None:
    outcome = Outcome(**{"status": 200, **known})
    reply: ModelReply | None = read_reply(FORMAT, outcome, body) if body else None
    assert state_of(outcome, reply, body) == state


@pytest.mark.parametrize("format", FORMATS)
def test_a_client_that_leaves_in_the_middle_of_an_event(format: str) -> None:
    """Half an event is not an answer that cannot be read; with the last one it is whole."""
    stream = stream_of(format)
    outcome = Outcome(status=200)
    last = len(stream.removesuffix(b"data: [DONE]\n\n"))
    for end in range(1, len(stream) + 1):
        reply = read_reply(format, outcome, stream[:end])
        state = "interrupted" if end < last else "answered"
        assert state_of(outcome, reply, stream[:end]) == (state, ""), stream[:end][-80:]


def test_a_client_that_leaves_because_of_an_error() -> None:
    outcome, error = Outcome(status=200), b'data: {"error": {"type": "server_error"}}\n\n'
    for came in (CUT + error, CUT + error + b"data: {"):
        reply = read_reply(FORMAT, outcome, came)
        assert state_of(outcome, reply, came) == ("failed", "server")
