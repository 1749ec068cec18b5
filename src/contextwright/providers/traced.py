"""A provider whose requests become spans of OpenTelemetry."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from copy import copy
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from contextwright import formats
from contextwright.errors import ContextwrightError, ProviderError, UsageError, require, shown
from contextwright.formats.replies.events import ErrorEvent, Event, Finish
from contextwright.formats.replies.reply import gather_partial
from contextwright.providers.base import AnyProvider, BatchProvider
from contextwright.providers.spans import Exchange, Spans, written

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

__all__ = ["Telemetry", "TracedProvider"]

Telemetry: TypeAlias = Literal["figures", "content"]
"""The content of spans: figures only, or also messages."""
INTERRUPTED = "interrupted"


class TracedProvider(BatchProvider):
    """Sends requests through another provider, and makes a span of each.

    A span is in the trace of the code that asks, by OpenTelemetry's conventions for generative AI;
    its time and tokens are measured too. With `telemetry="content"` it holds what was said. The
    provider's key is never in it.

    Raises:
        MissingExtra: OpenTelemetry is not installed.
        UsageError: there is no such telemetry.
    """

    def __init__(
        self,
        provider: AnyProvider,
        telemetry: Telemetry = "figures",
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
    ) -> None:
        if telemetry not in ("figures", "content"):
            raise UsageError(f"telemetry is 'figures' or 'content', not {shown(telemetry)}")
        require(provider, AnyProvider, "a provider", "connect() makes one")
        self.provider, self.format = provider, provider.format
        self._content = telemetry == "content"
        self._spans = Spans(tracer_provider, meter_provider)
        self._conversation = ""

    def __repr__(self) -> str:
        return f"TracedProvider({self.provider!r})"

    @property
    def name(self) -> str:
        """The name of the host."""
        return self.provider.name

    def without_key(self, text: str) -> str:
        """Return a text without the provider's key."""
        return self.provider.without_key(text)

    def in_conversation(self, id: str) -> TracedProvider:
        """Return the same provider, whose spans name a conversation."""
        bound = copy(self)
        bound.provider, bound._conversation = self.provider.in_conversation(id), id
        return bound

    async def close(self) -> None:
        """Close the connections."""
        await self.provider.close()

    async def batches(
        self, payload: Mapping[str, Any], *, model: str
    ) -> AsyncGenerator[list[Event], None]:
        """Yield the same, with those events together that arrive together.

        Raises:
            ProviderError: the provider refused it, or could not be reached; nothing arrived.
        """
        reply = ReplyLog(keeps_all=self._content)
        started_ns, context = time.time_ns(), self._spans.current()
        try:
            async with aclosing(self.provider.batches(payload, model=model)) as batches:
                async for batch in batches:
                    reply.add(batch)
                    yield batch
        except (GeneratorExit, asyncio.CancelledError):
            reply.error = INTERRUPTED
            raise
        except BaseException as error:
            is_ours = isinstance(error, ProviderError)
            reply.error = error.kind if is_ours else type(error).__name__
            reply.status = error.status if is_ours else None
            raise
        finally:
            exchange = reply.exchange(
                host=self.name,
                format=self.format,
                model=model,
                payload=payload,
                started_ns=started_ns,
                conversation=self._conversation,
                others=self._words(payload, reply) if self._content else {},
            )
            self._spans.send(exchange, context)

    def _words(self, payload: Mapping[str, Any], reply: ReplyLog) -> dict[str, str]:
        """Return the messages as attributes."""
        try:
            asked = formats.find(self.format).parse(dict(payload), False).messages
        except ContextwrightError:
            asked = ()
        answer = gather_partial(reply.events, self.format).answer
        said = {"input": asked, "output": [answer] if answer.parts else []}
        return {
            f"gen_ai.{name}.messages": self.without_key(written(messages))
            for name, messages in said.items()
        }


class ReplyLog:
    """The attributes of a reply, noted while it arrives."""

    def __init__(self, *, keeps_all: bool) -> None:
        self.events: list[Event] = []
        self.error = ""
        self.status: int | None = None
        self._keeps_all = keeps_all
        self._started = time.monotonic()
        self._first: float | None = None
        self._finish: Finish | None = None

    def add(self, batch: list[Event]) -> None:
        """Note some events."""
        if self._first is None:
            self._first = time.monotonic() - self._started
        if self._keeps_all:
            self.events += batch
        for event in batch:
            if type(event) is Finish:
                self._finish = event
            elif type(event) is ErrorEvent:
                self.error = event.error.kind

    def exchange(self, **asked: Any) -> Exchange:
        """Return the request with all that is known of its reply."""
        finish = self._finish
        cut_off = finish is None or finish.reason == INTERRUPTED
        return Exchange(
            **asked,
            seconds=time.monotonic() - self._started,
            first_chunk=self._first,
            error=self.error or (INTERRUPTED if cut_off else ""),
            is_answered=self._first is not None,
            finish="" if finish is None else finish.reason,
            usage=None if finish is None else finish.usage,
            status=self.status,
        )
