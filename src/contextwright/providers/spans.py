"""Requests as spans and metrics of OpenTelemetry, by its conventions for generative AI.

The names are copied, because the package with them is a pre-release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from contextwright.errors import MissingExtra, require
from contextwright.formats.replies.events import Usage
from contextwright.messages.message import Message
from contextwright.messages.parts import Part, Text, Thinking, ToolCall, ToolResult
from contextwright.text.json import json_text
from contextwright.wire.values import is_object

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

__all__ = ["Exchange", "Spans", "written"]

PROVIDERS = {"gemini": "gcp.gemini", "mistral": "mistral_ai"}
"""The conventions' names of hosts, where they differ from ours."""
SETTINGS = {
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "maxOutputTokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "topP": "top_p",
    "top_k": "top_k",
    "topK": "top_k",
    "seed": "seed",
}
"""Fields of requests → attributes of `gen_ai.request`."""
TOKENS = [4.0**power for power in range(14)]
SECONDS = [0.01 * 2**power for power in range(14)]
"""Ends of the buckets of histograms, as the conventions have them."""


class Exchange(Struct, frozen=True, kw_only=True):
    """A request and its answer, as far as spans describe them."""

    host: str
    format: str
    """The API of the host."""
    model: str
    payload: Mapping[str, Any]
    started_ns: int
    """When it was sent, in nanoseconds since 1970."""
    seconds: float
    first_chunk: float | None = None
    """Seconds until the answer began; None if it was not streamed."""
    error: str = ""
    """The kind of a failure; `interrupted` if the answer was cut off."""
    is_answered: bool = True
    """Whether anything of an answer came."""
    finish: str = ""
    usage: Usage | None = None
    status: int | None = None
    conversation: str = ""
    others: Mapping[str, Any] = {}
    """Attributes of our own."""

    @property
    def operation(self) -> str:
        """The name of what was asked for."""
        return "generate_content" if self.format == "gemini" else "chat"

    @property
    def identity(self) -> dict[str, str]:
        """The operation and its provider."""
        return {
            "gen_ai.operation.name": self.operation,
            "gen_ai.provider.name": PROVIDERS.get(self.host, self.host),
            "gen_ai.request.model": self.model,
        }

    def attributes(self) -> Iterator[tuple[str, Any]]:
        """Yield the attributes of a span; None and empty texts are left out."""
        yield from self.identity.items()
        yield from settings_in(self.payload)
        yield "gen_ai.conversation.id", self.conversation
        yield "gen_ai.response.finish_reasons", [self.finish] if self.finish else None
        yield "http.response.status_code", self.status
        if self.usage is not None:
            yield "gen_ai.usage.input_tokens", self.usage.input
            yield "gen_ai.usage.output_tokens", self.usage.output
            yield "gen_ai.usage.cache_read.input_tokens", self.usage.cached
            yield "gen_ai.usage.cache_creation.input_tokens", self.usage.written
            yield "gen_ai.usage.reasoning.output_tokens", self.usage.reasoning
        yield from self.others.items()


class Spans:
    """Makes a span of each request that is over, and measures its time and tokens.

    Without a provider of either kind, those of the program are used.

    Raises:
        MissingExtra: OpenTelemetry is not installed.
    """

    def __init__(
        self, provider: TracerProvider | None = None, meters: MeterProvider | None = None
    ) -> None:
        try:
            from opentelemetry import context, metrics, propagate, trace
        except ImportError as error:
            raise MissingExtra("telemetry", "otel") from error
        require(provider, trace.TracerProvider | None, "tracer_provider")
        require(meters, metrics.MeterProvider | None, "meter_provider")
        self._current, self._extract = context.get_current, propagate.extract
        self._client, self._status = trace.SpanKind.CLIENT, trace.StatusCode.ERROR
        self._tracer = trace.get_tracer("contextwright", tracer_provider=provider)
        measured = metrics.get_meter("contextwright", meter_provider=meters).create_histogram
        name = "gen_ai.client.operation"
        self._duration = measured(
            f"{name}.duration", "s", explicit_bucket_boundaries_advisory=SECONDS
        )
        self._first_chunk = measured(
            f"{name}.time_to_first_chunk", "s", explicit_bucket_boundaries_advisory=SECONDS
        )
        self._tokens = measured(
            "gen_ai.client.token.usage", "{token}", explicit_bucket_boundaries_advisory=TOKENS
        )

    def current(self) -> Context:
        """Return the trace that the calling code is in."""
        return self._current()

    def named_in(self, headers: Mapping[str, str]) -> Context | None:
        """Return the trace that the headers of a request name; None if they name none."""
        named = {name: headers[name] for name in ("traceparent", "tracestate") if name in headers}
        return self._extract(named) if named else None

    def send(self, exchange: Exchange, context: Context | None = None) -> None:
        """Make the span of one request, in a trace."""
        span = self._tracer.start_span(
            f"{exchange.operation} {exchange.model}",
            context=context,
            kind=self._client,
            attributes={
                name: value
                for name, value in exchange.attributes()
                if value is not None and value != ""
            },
            start_time=exchange.started_ns,
        )
        if exchange.error:
            span.set_attribute("error.type", exchange.error)
            span.set_status(self._status, exchange.error)
        span.end(exchange.started_ns + round(exchange.seconds * 1e9))
        self.measure(exchange)

    def measure(self, exchange: Exchange) -> None:
        """Add the time and the tokens of one request to the histograms."""
        asked = exchange.identity
        failed = {"error.type": exchange.error} if exchange.error else {}
        self._duration.record(exchange.seconds, {**asked, **failed})
        if exchange.first_chunk is not None and exchange.is_answered:
            self._first_chunk.record(exchange.first_chunk, asked)
        if exchange.usage is not None:
            self._tokens.record(exchange.usage.input, {**asked, "gen_ai.token.type": "input"})
            self._tokens.record(exchange.usage.output, {**asked, "gen_ai.token.type": "output"})


def settings_in(payload: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the settings that the conventions have attributes for."""
    held = payload.get("generationConfig")
    fields = {**payload, **held} if is_object(held) else payload
    for field, name in SETTINGS.items():
        if isinstance(value := fields.get(field), int | float):
            yield f"gen_ai.request.{name}", value


def written(messages: Sequence[Message]) -> str:
    """Return messages as the conventions write them."""
    return json_text([{"role": one.role, "parts": [*map(part_of, one.parts)]} for one in messages])


def part_of(part: Part) -> dict[str, Any]:
    """Return one part of a message; of media only the kind."""
    if isinstance(part, Text):
        return {"type": "text", "content": part.text}
    if isinstance(part, Thinking):
        return {"type": "reasoning", "content": part.text}
    if isinstance(part, ToolCall):
        call = {"id": part.id, "name": part.name, "arguments": part.arguments}
        return {"type": "tool_call", **call}
    if isinstance(part, ToolResult):
        return {"type": "tool_call_response", "id": part.call_id, "response": part.text}
    return {"type": getattr(part, "kind", "opaque")}
