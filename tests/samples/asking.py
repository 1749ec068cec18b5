"""Tools and providers that a question goes through."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

import contextwright as cw
from contextwright.formats.replies.events import Usage
from contextwright.formats.replies.reply import ModelReply
from contextwright.formats.replies.streams import as_reply
from contextwright.providers import SyncProvider, connect_sync
from providers.standin import (
    KEY,
    StandIn,
)

MODELS = {
    "openai-chat": "gpt-5.6-sol",
    "anthropic": "claude-sonnet-5-5",
    "gemini": "gemini-3.8-flash",
    "openai-responses": "gpt-5.6-sol",
}


FORMATS = tuple(MODELS)


per_format = pytest.mark.parametrize("format", FORMATS)


def weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


def distance(start: str, end: str) -> dict[str, Any]:
    """The distance between two cities in kilometres."""
    if end == "nowhere":
        raise LookupError("nowhere is not a city")
    return {"from": start, "to": end, "km": len(start) * len(end)}


TOOLS = [weather, distance]


def answered(message: cw.Message) -> ModelReply:
    reply = as_reply(message)
    usage = Usage(input=1000, output=50, cached=600)
    return ModelReply(reply.messages, finish=reply.finish, usage=usage)


@contextmanager
def providers(server: StandIn) -> Iterator[dict[str, SyncProvider]]:
    """A provider for each API, all at one stand-in; waits take no time."""

    async def sleep(seconds: float) -> None:
        pass

    with ExitStack() as stack:
        yield {
            format: stack.enter_context(
                connect_sync(format, KEY, base_url=server.base_url(format), sleep=sleep)
            )
            for format in FORMATS
        }
