"""One request on its way through the gateway, followed for the record."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import cached_property
from typing import Protocol

from msgspec.structs import replace
from starlette.responses import Response

from contextwright.errors import ContextwrightError, ProviderError
from contextwright.messages.changes import Change
from contextwright.providers.secrets import masked
from contextwright.serve.calls import Call, value_of
from contextwright.serve.history.continuations import PREVIOUS
from contextwright.serve.http.stream import BrokenOff, StreamedAnswer
from contextwright.serve.recording.outcome import Outcome, Transcript, without_keys
from contextwright.serve.secrets import secrets_in
from contextwright.serve.sessions import digest_of
from contextwright.serve.translate import Crossing
from contextwright.store.recording import BegunRequest
from contextwright.store.requests import RecordedRequest
from contextwright.store.rows.recorded.signatures import SignedAnswer
from contextwright.text.json import encode_json

__all__ = ["Passage"]

PATIENCE = 2.0
"""Seconds that an answer waits for its request to be noted."""


class Keeper(Protocol):
    """The interface of a recorder."""

    def hold(self, size: int) -> bool:
        """Make room for a piece of an answer; False if there is none."""
        ...

    def release(self, size: int) -> None:
        """Give room back."""
        ...

    def begin(self, passage: Passage) -> None:
        """Take a request that is about to be sent on."""
        ...

    def finish(self, passage: Passage) -> None:
        """Take a request that is over."""
        ...


class Passage:
    """One request on its way through the gateway, followed to the end of its answer."""

    def __init__(
        self,
        call: Call,
        record: RecordedRequest,
        keys: Sequence[str],
        keeper: Keeper,
    ) -> None:
        self.call, self.record, self.keeper = call, record, keeper
        self.held_bytes = len(call.body)
        self.shown = keys
        self.owner = digest_of(keys[0] if keys else "")
        self.begun = asyncio.get_running_loop().create_future()
        self.started, self.started_ns = time.monotonic(), time.time_ns()
        self.outcome = Outcome()
        self.chunks: list[bytes] = []
        self.is_kept = True
        """Whether there was room for all of the answer."""
        self.crossing: Crossing | None = None
        """The translated request; None if the client's own body is sent."""
        self.place: str | None = None
        """The digest of all that was said, if the answer may be signed."""
        self.signed: SignedAnswer | None = None
        """The signed parts of the answer, which the client cannot send back."""
        self.number = 0
        """Given when it is noted."""

    def begin(self, place: str | None = None) -> None:
        """Hand the request over to be noted, with the place of an answer that may be signed."""
        self.place = None if self.record.redacted else place
        self.keeper.begin(self)

    def translated(self, crossing: Crossing) -> None:
        """Note what the upstream is sent instead of the client's request."""
        self.crossing = crossing
        changes = tuple(crossing.changes)
        self.record = replace(self.record, sent_model=crossing.model, changes=changes)

    def changed(self, changes: Sequence[Change]) -> None:
        """Note what of the answer could not cross."""
        if changes:
            self.record = replace(self.record, changes=(*self.record.changes, *changes))

    async def along(self, response: Response) -> Response:
        """Return the answer, which is kept while it goes on to the client."""
        outcome = Outcome(
            status=response.status_code,
            encoding=",".join(response.headers.getlist("content-encoding")),
        )
        self.outcome = outcome
        if isinstance(response, StreamedAnswer):
            response.chunks = self.follow(response.chunks, outcome)
            response.held.callback(self.end)
        else:
            await self.whole(bytes(response.body), outcome)
        return response

    async def follow(
        self, chunks: AsyncGenerator[bytes, None], outcome: Outcome
    ) -> AsyncGenerator[bytes, None]:
        """Yield the bytes of the answer as they come; each is kept on the way."""
        try:
            async with aclosing(chunks):
                async for chunk in chunks:
                    if outcome.first_byte is None:
                        await self.noted()
                    self.keep(chunk)
                    yield chunk
            outcome.whole = True
        except BrokenOff:
            outcome.broken_off = True
            raise

    async def whole(self, body: bytes, outcome: Outcome) -> None:
        """Note an answer that comes in one piece."""
        await self.noted()
        self.keep(body)
        outcome.whole = True
        self.end()

    def keep(self, chunk: bytes) -> None:
        """Keep a piece of the answer; all of it is given up once there is no room for one."""
        if self.is_kept and self.keeper.hold(len(chunk)):
            self.chunks.append(chunk)
            self.held_bytes += len(chunk)
        elif self.is_kept:
            self.is_kept = False
            self.keeper.release(sum(map(len, self.chunks)))
            self.held_bytes -= sum(map(len, self.chunks))
            self.chunks.clear()

    def failed(self, error: Exception) -> None:
        """Note that there is no answer, and why."""
        refused = error if isinstance(error, ProviderError) else None
        kind = "invalid" if isinstance(error, ContextwrightError) else "server"
        self.outcome = Outcome(
            status=refused.status if refused else None,
            error=refused.kind if refused else kind,
            broken_off=isinstance(error, BrokenOff),
        )
        self.end()

    async def noted(self) -> None:
        """Wait until the request is noted, but not for long, so that no answer hangs on it."""
        self.outcome.first_byte = time.monotonic() - self.started
        await self.numbered()

    async def numbered(self) -> int:
        """Return its number when it is noted; 0 if that takes too long."""
        if not self.begun.done():
            await asyncio.wait([self.begun], timeout=PATIENCE)
        return self.number

    def goes_on_from(self, other: Passage) -> bool:
        """Whether the client names the answer to another request, as far as that has come."""
        previous = value_of(self.call.fields, PREVIOUS)
        if not isinstance(previous, str) or other.owner != self.owner:
            return False
        return encode_json(previous) in b"".join(other.chunks)

    def end(self) -> None:
        """Hand everything over to be written."""
        self.outcome.seconds = time.monotonic() - self.started
        self.outcome.started_ns = self.started_ns
        self.keeper.finish(self)

    @cached_property
    def keys(self) -> frozenset[str]:
        """Keys that must not be stored, wherever they stand."""
        return frozenset((*self.shown, *secrets_in(self.call)))

    @cached_property
    def request(self) -> bytes:
        """The client's body without keys."""
        return masked(self.call.body, self.keys)

    def begun_request(self) -> BegunRequest:
        """Return what is noted of it before its answer goes on."""
        body = None if self.record.redacted else self.request
        return BegunRequest(without_keys(self.record, self.keys), body, self.owner, self.place)

    def transcript(self) -> Transcript:
        """Return all that is known of it."""
        return Transcript(
            call=self.call,
            record=replace(self.record, number=self.number),
            outcome=self.outcome,
            request=self.request,
            reply=b"".join(self.chunks) if self.is_kept else None,
            crossing=self.crossing,
            signed=self.signed,
            keys=self.keys,
            owner=self.owner,
        )
