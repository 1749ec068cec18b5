"""Every client's API behind every upstream, read by the vendors' SDKs: what must never be lost."""

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

import contextwright as cw
from contextwright.formats.replies.events import ReplyError, Usage
from contextwright.formats.replies.reply import ModelReply
from providers.standin import KEY, BreakOff, FailMidway, StandIn, said, serving
from serve.gateways import TOKEN, Running, running
from serve.sdks import BROKEN, ERRORS, ask
from serve.upstreams import ENVIRONMENT, FORMATS, MODELS, open_settings, settings_for

STREAMS = pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
USAGE = Usage(1_000, 50, cached=600)
BUSY = {
    "rate_limit": ReplyError("rate_limit", "Slow down", 429, retry_after=7),
    "overloaded": ReplyError("overloaded", "Too many", 529, retry_after=9),
    "server": ReplyError("server", "Broken", 500),
}


class Pair:
    """A client, and an upstream that answers as the test says."""

    def __init__(self, client: str, upstream: str, server: StandIn, gateway: Running) -> None:
        self.client, self.upstream = client, upstream
        self.server, self.gateway = server, gateway

    def ask(self, answer: Any, *, streams: bool) -> ModelReply:
        """What the SDK makes of an answer to a request in which the upstream finds no fault."""
        self.server.answers = [answer]
        model = MODELS[self.client]
        body = cw.render([cw.user("Hello")], self.client, model=model).payload
        key = KEY if self.client == self.upstream else TOKEN
        address = self.gateway.address
        try:
            return ask(self.client, address, body, key=key, model=model, streams=streams)
        finally:
            assert self.server.refused == []


@pytest.fixture(
    scope="module",
    params=[(client, upstream) for client in FORMATS for upstream in FORMATS],
    ids="-to-".join,
)
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    client, upstream = request.param
    with serving() as server:
        made = open_settings if client == upstream else settings_for
        with running(made(upstream, server), environment=ENVIRONMENT) as gateway:
            yield Pair(client, upstream, server, gateway)


@STREAMS
def test_usage_arrives(pair: Pair, streams: bool) -> None:
    assert pair.ask(replace(said("Hello"), usage=USAGE), streams=streams).usage == USAGE


@pytest.mark.parametrize("kind", BUSY)
def test_errors_arrive_with_their_wait(pair: Pair, kind: str) -> None:
    error = BUSY[kind]
    with pytest.raises(ERRORS) as caught:
        pair.ask(error, streams=True)
    assert error.message in str(caught.value)
    response: Any = caught.value.response  # pyright: ignore
    # Only Anthropic says 529, and only its clients know it.
    others = error.status == 529 and not pair.client == pair.upstream == "anthropic"
    assert response.status_code == (503 if others else error.status)
    wait = f"{error.retry_after:g}" if error.retry_after else None
    assert response.headers.get("retry-after") == wait


def test_an_error_in_the_middle_is_seen(pair: Pair) -> None:
    answer = FailMidway(said("One two three"), ReplyError("overloaded", "Too many", 529))
    told = ""
    try:
        told = str(pair.ask(answer, streams=True).error)
    except ERRORS as error:
        told = str(error)
    assert "Too many" in told


def test_a_break_is_seen(pair: Pair) -> None:
    finish = "interrupted"
    try:
        finish = pair.ask(BreakOff(said("One two three"), 1), streams=True).finish
    except (*ERRORS, *BROKEN):
        pass
    assert finish in ("error", "interrupted")


@STREAMS
def test_a_refusal_is_seen(pair: Pair, streams: bool) -> None:
    refusal = cw.Text("I cannot help.", {"openai-chat": {"type": "refusal"}})
    answer = replace(said(refusal), finish="refusal", refusal="I cannot help.")
    assert pair.ask(answer, streams=streams).finish in ("refusal", "filter")
