"""Recorded requests as spans and metrics of OpenTelemetry, by its conventions for generative AI.

The names are copied, because the package with them is a pre-release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from contextwright.errors import MissingExtra
from contextwright.messages.message import Message
from contextwright.messages.parts import Part, Text, Thinking, ToolCall, ToolResult
from contextwright.serve.outcome import Transcript
from contextwright.store.recording import EndedRequest
from contextwright.store.requests import RecordedRequest
from contextwright.text.json import encode_json
from contextwright.wire.values import is_object

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

__all__ = ["Spans", "measure_to_collector", "send_to_collector"]

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


class Spans:
    """Makes a span of each request that is over, in the trace that the client names.

    Its time and tokens are measured too. With `content`, spans hold what was said; never a key.

    Raises:
        MissingExtra: OpenTelemetry is not installed.
    """

    def __init__(
        self,
        *,
        content: bool = False,
        provider: TracerProvider | None = None,
        meters: MeterProvider | None = None,
    ) -> None:
        try:
            from opentelemetry import metrics, propagate, trace
        except ImportError as error:
            raise MissingExtra("telemetry", "otel") from error
        self.content = content
        self._extract = propagate.extract
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

    def send(self, transcript: Transcript, ended: EndedRequest, record: RecordedRequest) -> None:
        """Make the span of one request."""
        headers = transcript.call.headers
        named = {name: headers[name] for name in ("traceparent", "tracestate") if name in headers}
        begun = transcript.outcome.started_ns
        span = self._tracer.start_span(
            f"{operation_of(record)} {record.sent_model}",
            context=self._extract(named) if named else None,
            kind=self._client,
            attributes={
                name: value
                for name, value in self.attributes(ended, record)
                if value is not None and value != ""
            },
            start_time=begun,
        )
        if record.state != "answered":
            span.set_attribute("error.type", record.error or record.state)
            span.set_status(self._status, record.error or record.state)
        span.end(begun + round((record.seconds or 0) * 1e9))
        self.measure(record)

    def measure(self, record: RecordedRequest) -> None:
        """Add the time and the tokens of one request to the histograms."""
        asked = dict(identity_of(record))
        failed = {} if record.state == "answered" else {"error.type": record.error or record.state}
        self._duration.record(record.seconds or 0.0, {**asked, **failed})
        if record.streams and record.first_byte is not None and record.state != "failed":
            self._first_chunk.record(record.first_byte, asked)
        if record.usage is not None:
            self._tokens.record(record.usage.input, {**asked, "gen_ai.token.type": "input"})
            self._tokens.record(record.usage.output, {**asked, "gen_ai.token.type": "output"})

    def attributes(self, ended: EndedRequest, record: RecordedRequest) -> Iterator[tuple[str, Any]]:
        """Everything a span says of a request."""
        yield from identity_of(record)
        yield from settings_in(ended.payload)
        yield "gen_ai.conversation.id", record.conversation or record.session
        yield "gen_ai.response.finish_reasons", [record.finish] if record.finish else None
        yield "http.response.status_code", record.status
        if record.usage is not None:
            yield "gen_ai.usage.input_tokens", record.usage.input
            yield "gen_ai.usage.output_tokens", record.usage.output
            yield "gen_ai.usage.cache_read.input_tokens", record.usage.cached
            yield "gen_ai.usage.cache_creation.input_tokens", record.usage.written
            yield "gen_ai.usage.reasoning.output_tokens", record.usage.reasoning
        yield "contextwright.request", record.number
        yield "contextwright.client", record.client
        yield "contextwright.mode", record.mode
        yield "contextwright.price", record.price
        yield "contextwright.first_byte", record.first_byte
        yield "contextwright.changes", len(record.changes)
        if record.prefix is not None:
            yield "contextwright.prefix.share", record.prefix.share
            yield "contextwright.prefix.cause", record.prefix.cause
        if self.content and ended.said is not None:
            yield "gen_ai.input.messages", written(ended.said.messages)
            yield "gen_ai.output.messages", written([ended.reply] if ended.reply else [])


def identity_of(record: RecordedRequest) -> Iterator[tuple[str, str]]:
    """Yield what was asked of whom."""
    yield "gen_ai.operation.name", operation_of(record)
    yield "gen_ai.provider.name", PROVIDERS.get(record.upstream, record.upstream)
    yield "gen_ai.request.model", record.sent_model


def operation_of(record: RecordedRequest) -> str:
    """Return the name of what was asked for."""
    return "generate_content" if record.upstream_format == "gemini" else "chat"


def settings_in(payload: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the settings that the conventions have attributes for."""
    held = payload.get("generationConfig")
    fields = {**payload, **held} if is_object(held) else payload
    for field, name in SETTINGS.items():
        if isinstance(value := fields.get(field), int | float):
            yield f"gen_ai.request.{name}", value


def written(messages: Sequence[Message]) -> str:
    """Messages as the conventions write them."""
    return encode_json(
        [{"role": one.role, "parts": [*map(part_of, one.parts)]} for one in messages]
    ).decode()


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


def send_to_collector() -> TracerProvider:
    """Return a provider that sends spans where OpenTelemetry's own variables (`OTEL_…`) say.

    Raises:
        MissingExtra: OpenTelemetry is not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise MissingExtra("telemetry", "otel") from error
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


def measure_to_collector() -> MeterProvider:
    """Return a provider that sends metrics where OpenTelemetry's own variables (`OTEL_…`) say.

    Raises:
        MissingExtra: OpenTelemetry is not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    except ImportError as error:
        raise MissingExtra("telemetry", "otel") from error
    return MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())])
