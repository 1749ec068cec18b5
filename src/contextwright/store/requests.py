"""Recorded requests of the gateway, as frozen values."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from contextwright.context.receipt import Comparison
from contextwright.formats.replies.events import Usage
from contextwright.messages.changes import Change

__all__ = [
    "BodyKind",
    "ForkReason",
    "RecordedFork",
    "RecordedRequest",
    "RequestBodies",
    "RequestState",
    "Requests",
]

RequestState: TypeAlias = Literal["open", "answered", "failed", "interrupted", "lost"]
"""`open`: sent, not answered yet. `failed`: the upstream refused it, or could not be reached.
`interrupted`: the answer was cut off, or the client disconnected. `lost`: the gateway ended before
it was answered, or could not store the answer.
"""

RequestMode: TypeAlias = Literal["pass-through", "translated"]

ForkReason: TypeAlias = Literal["compaction", "edit", "rewind"]
"""`compaction`: a shorter history begins. `edit`: a message before the last one differs. `rewind`:
the client went back and continued from there.
"""

BodyKind: TypeAlias = Literal["request", "upstream", "reply"]


class RecordedFork(Struct, frozen=True):
    """Where a client departed from the history it had sent before."""

    parent: str
    """The conversation it departed from."""
    at: int
    """The last message that both have; 0 if none."""
    reason: ForkReason


class RecordedRequest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request that passed through the gateway, and its answer, in figures.

    Its bodies are in `Store.request_bodies`.
    """

    number: int = 0
    """Its number; 1 for the first of a store."""
    state: RequestState = "open"
    started: str = ""
    """When it arrived, in ISO 8601."""
    conversation: str | None = None
    """The conversation it belongs to; None until it is answered, or if content is not kept."""
    first: int | None = None
    """The first message that it added to its conversation; None if it added none."""
    last: int | None = None
    """The last message that it added: the answer."""
    fork: RecordedFork | None = None
    session: str = ""
    """The session that the client named; empty if it named none."""
    toolset: str = ""
    """A digest of the names of its tools, and of the agent they belong to; empty if it has none."""
    client: str = ""
    """The name and version of the client, as far as it sends them."""
    format: str
    """The API of the client."""
    upstream_format: str
    """The API of the upstream."""
    upstream: str
    """The name of the upstream."""
    mode: RequestMode
    model: str
    """The model that the client asked for."""
    sent_model: str
    """The model that the upstream was asked for."""
    streams: bool = False
    status: int | None = None
    """The HTTP status of the upstream's answer."""
    error: str = ""
    """The kind of a failure: `rate_limit`, `invalid`, `connection` …"""
    finish: str = ""
    """Why the answer ended."""
    first_byte: float | None = None
    """Seconds from the request to the first byte of the answer."""
    seconds: float | None = None
    """Seconds from the request to the end of the answer."""
    messages: int = 0
    """The number of messages in the request."""
    request_bytes: int = 0
    reply_bytes: int = 0
    usage: Usage | None = None
    """The tokens as the provider counted them."""
    price: float | None = None
    """US dollars; None if the tokens or the model's prices are unknown."""
    changes: tuple[Change, ...] = ()
    """What a translation could not carry, or repaired."""
    previous: int | None = None
    """The request before it in its conversation."""
    prefix: Comparison | None = None
    """How much of it was in the previous request's prefix, and where and why that broke."""
    masked: bool = False
    """Whether a key in a body was replaced with stars."""
    redacted: bool = False
    """Whether only figures were kept: no bodies and no messages."""

    @property
    def cached(self) -> float:
        """The share of the input that came from the provider's cache, from 0 to 1."""
        return self.usage.cached / self.usage.input if self.usage and self.usage.input else 0.0


class RequestBodies(Struct, frozen=True):
    """The bodies of a recorded request, byte for byte; None for what was not kept."""

    request: bytes | None = None
    """What the client sent."""
    upstream: bytes | None = None
    """What the upstream was sent, if that differs."""
    reply: bytes | None = None
    """What the upstream answered: a body, or the events of a stream."""


Requests: TypeAlias = list[RecordedRequest]
"""Recorded requests, the newest first."""
