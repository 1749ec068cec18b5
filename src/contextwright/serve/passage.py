"""One request on its way through the gateway, followed for the record."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from hashlib import blake2b
from typing import Any

from msgspec.structs import replace
from starlette.responses import Response

from contextwright.errors import ContextwrightError, ProviderError
from contextwright.messages.changes import Change
from contextwright.serve.calls import Call
from contextwright.serve.http.stream import BrokenOff, StreamedAnswer
from contextwright.serve.outcome import Outcome, Transcript
from contextwright.store.requests import RecordedRequest

__all__ = ["Passage"]

PATIENCE = 2.0
"""Seconds that an answer waits for its request to be noted."""


class Passage:
    """One request on its way through the gateway, followed to the end of its answer."""

    def __init__(
        self,
        call: Call,
        record: RecordedRequest,
        keys: Sequence[str],
        hand_over: Callable[[Passage], None],
    ) -> None:
        self.call, self.record = call, record
        self.hand_over = hand_over
        """Called with the passage at its end."""
        self.keys = frozenset(keys)
        self.owner = blake2b("\n".join(keys[:1]).encode(), digest_size=16).hexdigest()
        self.begun = asyncio.get_running_loop().create_future()
        self.started = time.monotonic()
        self.outcome = Outcome()
        self.chunks: list[bytes] = []
        self.upstream: dict[str, Any] | None = None
        self.number = 0
        """Given when it is noted."""

    def translated(self, payload: dict[str, Any], model: str, changes: Sequence[Change]) -> None:
        """Note what the upstream is sent in the place of the client's request."""
        self.upstream = payload
        self.record = replace(self.record, sent_model=model, changes=tuple(changes))

    async def along(self, response: Response) -> Response:
        """The answer, which is kept while it goes on to the client."""
        outcome = Outcome(
            status=response.status_code,
            streams="event-stream" in response.headers.get("content-type", ""),
            encoding=response.headers.get("content-encoding", ""),
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
        """The bytes of the answer as they come; each is kept on the way."""
        try:
            async with aclosing(chunks):
                async for chunk in chunks:
                    if not self.chunks:
                        await self.noted()
                    self.chunks.append(chunk)
                    yield chunk
            outcome.whole = True
        except BrokenOff:
            outcome.broken_off = True
            raise

    async def whole(self, body: bytes, outcome: Outcome) -> None:
        """Note an answer that comes in one piece."""
        await self.noted()
        self.chunks.append(body)
        outcome.whole = True
        self.end()

    def failed(self, error: ContextwrightError) -> None:
        """Note that there is no answer, and why."""
        told = error if isinstance(error, ProviderError) else None
        self.outcome = Outcome(
            status=told.status if told else None,
            error=told.kind if told else "invalid",
            broken_off=isinstance(error, BrokenOff),
        )
        self.end()

    async def noted(self) -> None:
        """Come back when the request is noted; or after a while, so that no answer hangs on it."""
        self.outcome.first_byte = time.monotonic() - self.started
        if not self.begun.done():
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self.begun), PATIENCE)

    def end(self) -> None:
        """Hand everything over to be written."""
        self.outcome.seconds = time.monotonic() - self.started
        self.hand_over(self)

    def transcript(self) -> Transcript:
        """All that is known of it."""
        return Transcript(
            call=self.call,
            record=replace(self.record, number=self.number),
            outcome=self.outcome,
            reply=b"".join(self.chunks),
            upstream=self.upstream,
            keys=self.keys,
            owner=self.owner,
        )
