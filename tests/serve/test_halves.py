"""Texts that a client cut in the middle of an emoji: JavaScript writes half a character then."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contextwright as cw
from contextwright.formats.replies.streams import write_reply
from contextwright.serve import GatewaySettings, Route
from contextwright.serve.reading import read_fields, repairs_in, with_whole_characters
from contextwright.text.json import encode_json, whole_characters
from profiles import BODY, examples
from providers.standin import said, serving
from serve.gateways import PATHS, TOKEN, running
from serve.test_relay import between, upstream
from serve.upstreams import ENVIRONMENT, PAIRS, settings_for

CHARACTERS = st.sampled_from(
    ["\ud83d", "\ude00", "\\", "\\ud83d", '"', "u", "d83d", "\n", "é", "a"]
)
TEXTS = st.lists(CHARACTERS, max_size=8).map("".join)
HALF = "Look: \ud83d"
WHOLE = "Look: \ufffd"
SURROGATE = "repair.surrogate"


@examples(BODY)
@given(TEXTS)
def test_a_half_is_read_as_what_stands_for_it(text: str) -> None:
    body = json.dumps({"": text}).encode()
    whole = json.dumps({"": whole_characters(text)}).encode()
    assert read_fields(body) == read_fields(whole)
    assert json.loads(with_whole_characters(body)) == json.loads(whole)
    assert bool(repairs_in(body)) is (json.loads(body) != json.loads(whole))


def question(format: str) -> dict[str, Any]:
    return cw.render([cw.user("Q")], format, model="any").payload


def body_of(format: str, model: str) -> bytes:
    """A question that ends in half a character."""
    return (
        json.dumps({**question(format), "model": model}).replace('"Q"', json.dumps(HALF)).encode()
    )


@pytest.mark.parametrize("format", PATHS)
def test_what_passes_keeps_its_bytes(format: str, tmp_path: Path) -> None:
    body = body_of(format, "m")
    with upstream() as server, between(PATHS[format], server) as gateway:
        gateway.ask(PATHS[format], body)
    assert [came for _, _, came in server.seen] == [body]


@pytest.mark.parametrize(("client", "other"), PAIRS)
def test_another_provider_gets_whole_characters(client: str, other: str, tmp_path: Path) -> None:
    """Providers refuse half a character: their readers of JSON do not take it."""
    with cw.Store(tmp_path / "store.db", sync="fast") as store, serving(said("Yes.")) as server:
        settings = settings_for(other, server)
        with running(settings, environment=ENVIRONMENT, store=store) as gateway:
            path = PATHS.get(client, "/v1beta/models/m:generateContent")
            body = body_of(client, "m")
            answer = gateway.ask(path, body, {"authorization": f"Bearer {TOKEN}"})
        (record,) = store.requests()
        assert record.conversation
        stored = [one.message.text for one in store.conversation(record.conversation).read()]
        assert store.request_bodies(record.number).request == body
    assert (answer.status, server.refused) == (200, [])
    assert SURROGATE in answer.headers["x-contextwright-changes"]
    assert SURROGATE in [one.code for one in record.changes]
    assert [one.text for one in cw.parse(server.bodies[-1], other).messages] == [WHOLE]
    assert stored[0] == WHOLE


@pytest.mark.parametrize(
    ("format", "path"),
    [("anthropic", "/v1/messages/count_tokens"), ("gemini", "/v1beta/models/m:countTokens")],
)
def test_they_are_counted(format: str, path: str) -> None:
    with running(GatewaySettings((Route("*", "echo"),))) as gateway:
        answer = gateway.ask(path, body_of(format, "m"))
    assert answer.status == 200
    assert 0 < sum(answer.json.values()) < 20


@pytest.mark.parametrize("fields", [{}, {"tools": [{"name": HALF}]}], ids=["read", "unreadable"])
def test_requests_with_halves_are_recorded(fields: dict[str, Any], tmp_path: Path) -> None:
    """And so are those behind them, by a gateway that knows only their records."""
    turns = [{"role": "user", "content": HALF}]
    with cw.Store(tmp_path / "store.db", sync="fast") as store, upstream() as server:
        server.status, server.body = 200, encode_json(write_reply(said("Hi"), "anthropic").body)
        route = Route("*", "anthropic", base_url=f"http://127.0.0.1:{server.server_port}")
        for _ in range(2):
            body = {"model": "m", "max_tokens": 9, "messages": turns, **fields}
            with running(GatewaySettings((route,)), store=store) as gateway:
                gateway.ask("/v1/messages", body, {"x-claude-code-session-id": "s"})
            turns += [{"role": "assistant", "content": "Hi"}, {"role": "user", "content": "So?"}]
        records = store.requests()
    assert [record.state for record in records] == ["answered"] * 2
    assert records[0].previous == (records[1].number if not fields else None)
