"""Answers that come compressed: passed on as they are, recorded without compression."""

import gzip
import json
from pathlib import Path

import pytest

import contextwright as cw
from contextwright.formats.replies.reply import events_of
from contextwright.formats.replies.streams import write_stream
from contextwright.serve import GatewaySettings, Route
from contextwright.serve.recording import outcome
from contextwright.store import RecordedRequest
from providers.standin import KEY, said
from serve.gateways import running
from serve.test_bodies import PACKERS, packed
from serve.test_relay import upstream

STREAM = b"".join(write_stream(events_of(said("Yes.")), "anthropic", model="m"))
BODY = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}


def recorded(
    store: cw.Store, body: bytes, encoding: str, status: int = 200
) -> tuple[RecordedRequest, bytes | None]:
    """The record of a request that is answered with a body, and the answer in it."""
    with upstream() as server:
        server.status, server.body = status, body
        server.headers["content-encoding"] = encoding
        route = Route("*", "anthropic", base_url=f"http://127.0.0.1:{server.server_port}")
        with running(GatewaySettings((route,)), store=store) as gateway:
            answer = gateway.ask("/v1/messages", BODY, {"x-api-key": KEY})
    assert (answer.status, answer.body) == (status, body)
    assert answer.headers["content-encoding"] == encoding
    (record,) = store.requests()
    return record, store.request_bodies(record.number).reply


@pytest.mark.parametrize("encoding", [*PACKERS, "GZIP", "gzip, identity", "gzip, zstd"])
def test_an_answer_that_comes_compressed_is_read(tmp_path: Path, encoding: str) -> None:
    names = encoding.lower().split(", ")
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        record, reply = recorded(store, packed(STREAM, names), encoding)
        assert (record.state, record.changes, reply) == ("answered", (), STREAM)
        (info,) = store.list()
        words = [one.message.text for one in store.conversation(info.id).read()]
    assert words == ["Hello", "Yes."]


def test_an_answer_in_several_members_is_read(tmp_path: Path) -> None:
    members = gzip.compress(STREAM[:99]) + gzip.compress(STREAM[99:])
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        record, reply = recorded(store, members, "gzip")
    assert (record.state, reply) == ("answered", STREAM)


@pytest.mark.parametrize("encoding", PACKERS)
def test_no_key_hides_in_it(tmp_path: Path, encoding: str) -> None:
    error = {"type": "authentication_error", "message": f"{KEY} is wrong"}
    told = json.dumps({"type": "error", "error": error}).encode()
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        record, reply = recorded(store, packed(told, [encoding]), encoding, 401)
    assert (record.state, record.error, record.masked) == ("failed", "authentication", True)
    assert reply == told.replace(KEY.encode(), b"*" * len(KEY))


@pytest.mark.parametrize(
    ("body", "encoding", "state", "kept"),
    [
        (STREAM, "br", "answered", None),  # it may hold a key
        (gzip.compress(bytes(2_000)), "gzip", "answered", None),
        (STREAM, "gzip", "failed", b""),
    ],
    ids=["br", "long", "wrong"],  # the bytes of gzip hold the time
)
def test_what_cannot_be_read_is_not_kept(
    tmp_path: Path,
    body: bytes,
    encoding: str,
    state: str,
    kept: bytes | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outcome, "MAX_REPLY_BYTES", 1_500)
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        record, reply = recorded(store, body, encoding)
    assert (record.state, reply) == (state, kept)
    assert [(one.code, one.path) for one in record.changes] == [("loss.reply", "reply")]


def test_half_of_a_compressed_answer_is_kept(tmp_path: Path) -> None:
    with cw.Store(tmp_path / "store.db", sync="fast") as store:
        record, reply = recorded(store, gzip.compress(STREAM)[:-40], "gzip")
    assert record.state == "interrupted"
    assert reply
    assert STREAM.startswith(reply)
